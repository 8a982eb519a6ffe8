"""Adding, changing and removing nodes."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

Port = Annotated[int, Meta(ge=1, le=65535)]
Word = Annotated[str, Meta(min_length=1, max_length=255)]


class NodeRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Word
    host: Word  # as `ssh` takes it, such as an alias of the ssh config
    user: Word | None = None
    port: Port | None = None
    address: Word | None = None
    watch_only: bool = False
    environment: dict[str, str] = {}
    later: bool = False  # add it even if it cannot be reached now


class NodeChange(Struct, kw_only=True, forbid_unknown_fields=True):
    """What is not given stays as it is."""

    host: Word | UnsetType = UNSET
    user: Word | UnsetType | None = UNSET
    port: Port | UnsetType | None = UNSET
    address: Word | UnsetType | None = UNSET
    watch_only: bool | UnsetType = UNSET
    environment: dict[str, str] | UnsetType = UNSET


class NodeGone(Struct, kw_only=True):
    name: str
    fetched_logs: int  # of ended jobs, which are on this machine now
    unknown_jobs: list[int]  # nobody knows how they ended, because the node was forgotten
