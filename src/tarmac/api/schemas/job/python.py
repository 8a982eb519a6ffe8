"""The Python and the packages that a job uses."""

from __future__ import annotations

from msgspec import Struct


class PythonView(Struct, kw_only=True):
    path: str
    version: str
    packages: dict[str, str]  # name → version


class PackageChangeView(Struct, kw_only=True):
    """`then` or `now` is null where it is not installed. The name `python` is the interpreter itself."""

    name: str
    then: str | None
    now: str | None


class PythonChanges(Struct, kw_only=True):
    """`then`: when the job started; `now`: what it would find now. Null: not known, and then nothing is compared."""

    then: PythonView | None
    now: PythonView | None
    changes: list[PackageChangeView]
