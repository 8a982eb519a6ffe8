"""The body of every failed request."""

from __future__ import annotations

from msgspec import Struct


class RefusedJob(Struct, kw_only=True):
    """`index`: its place in the submit, from 0."""

    index: int
    key: str
    message: str
    hint: str | None


class ErrorDetail(Struct, kw_only=True, omit_defaults=True):
    """`jobs`: of a submit with several jobs, those that are refused. The other fields tell about the first of them."""

    code: str
    key: str
    message: str
    hint: str | None
    jobs: list[RefusedJob] = []


class ErrorAnswer(Struct, kw_only=True):
    error: ErrorDetail
