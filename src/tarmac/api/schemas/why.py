"""Why a job does not run yet."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class WhyReason(Struct, kw_only=True):
    """Further fields contain the numbers; which ones depends on the kind."""

    kind: str
    text: str


class WhyGpu(Struct, kw_only=True):
    node: str
    index: int
    uuid: str
    text: str
    jobs: list[int]
    until: str | None


class WhyView(Struct, kw_only=True):
    id: int
    state: str
    position: int | None
    ahead: int | None
    asked: dict[str, Any]
    free: dict[str, Any]
    reasons: list[WhyReason]
    gpus: list[WhyGpu]
    estimated_start: str | None
    estimate_basis: str | None
    lines: list[str]
