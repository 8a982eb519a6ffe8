"""The records of the catalogue: a message as written, and as a person reads it."""

from __future__ import annotations

from typing import NamedTuple


class Message(NamedTuple):
    """`text` says what happened and to which object; `hint` says what to do next."""

    text: str
    hint: str | None = None


class Rendered(NamedTuple):
    """Message and hint filled in, with the key that programs may rely on."""

    key: str
    message: str
    hint: str | None
