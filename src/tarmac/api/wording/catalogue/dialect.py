"""How sentences are written for a reader: language and time zone. Readers with the same dialect share texts."""

from __future__ import annotations

from typing import NamedTuple

from tarmac.api.wording.catalogue.catalogue import language, speak
from tarmac.api.wording.times import tell_in_zone, zone


class Dialect(NamedTuple):
    language: str
    zone: str | None


def current_dialect() -> Dialect:
    return Dialect(language(), zone())


def use(dialect: Dialect) -> None:
    speak(dialect.language)
    tell_in_zone(dialect.zone)
