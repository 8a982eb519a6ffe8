"""One row of the table of routes. Routing, the guard, validation, OpenAPI, the documentation and tests read it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import msgspec
from starlette.convertors import IntegerConvertor, register_url_convertor

from tarmac.controller.requests.permissions import AdminAction

PREFIX = "/api/v1"
JSON = "application/json"
BYTES = "application/octet-stream"
LARGEST_BODY_BYTES = 16 << 20  # a selection of a million jobs
_KIND = re.compile(r":\w+")

Who: TypeAlias = Literal["users", "admins"]
# Called with the context, then the parts of the path in braces, then the query, then the body: those that the row has.
Handler: TypeAlias = Callable[..., Awaitable[Any]]


class _Number(IntegerConvertor):
    """`{id:number}`: a number that SQLite can hold. int() fails on thousands of digits."""

    regex = "[0-9]{1,18}"


register_url_convertor("number", _Number())


@dataclass(frozen=True)
class Route:
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    handler: Handler
    query: type[msgspec.Struct] | None = field(default=None, kw_only=True)
    body: type[msgspec.Struct] | None = field(default=None, kw_only=True)
    takes_bytes: bool = field(default=False, kw_only=True)  # its body is not JSON
    answer: Any = field(kw_only=True)
    media_type: str = field(default=JSON, kw_only=True)
    status: int = field(default=200, kw_only=True)
    other_statuses: Mapping[int, str] = field(default_factory=dict, kw_only=True)  # with the same answer, and when
    largest_body_bytes: int = field(default=LARGEST_BODY_BYTES, kw_only=True)
    may_last: bool = field(default=False, kw_only=True)  # its answer may take as long as a job
    is_shared: bool = field(default=False, kw_only=True)  # clients that ask the same at the same time share an answer
    admins_may: AdminAction | None = field(default=None, kw_only=True)  # None: every user may

    @property
    def shown_path(self) -> str:
        """`/reservations/{id}/end` for `/reservations/{id:number}/end`."""
        return _KIND.sub("", self.path)

    @property
    def who(self) -> Who:
        return "users" if self.admins_may is None else "admins"

    @property
    def body_type(self) -> str:
        return BYTES if self.takes_bytes else JSON

    @cached_property
    def decoder(self) -> msgspec.json.Decoder[Any] | None:
        """Accepts a number written as a string."""
        return None if self.body is None else msgspec.json.Decoder(self.body, strict=False)
