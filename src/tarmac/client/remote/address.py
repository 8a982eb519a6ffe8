"""The address of another machine: `ssh://[USER@]HOST[:PORT]`. A plain `[USER@]HOST` means the same."""

from __future__ import annotations

from typing import NamedTuple

from tarmac.errors import UserError

SCHEME = "ssh://"
LAST_PORT = 65535
HINT = "write it as ssh://[USER@]HOST[:PORT], such as ssh://alice@gpu01"


class Address(NamedTuple):
    host: str
    user: str | None
    port: int | None

    @property
    def name(self) -> str:
        """As a person would type it after `ssh`."""
        return f"{self.user}@{self.host}" if self.user else self.host

    def arguments(self) -> list[str]:
        """The last options of `ssh`, and the host. `--` ends the options, whatever the host is called."""
        user = ["-l", self.user] if self.user else []
        port = ["-p", str(self.port)] if self.port else []
        return [*user, *port, "--", self.host]


def read_address(text: str) -> Address:
    scheme, mark, rest = text.partition("://")
    if mark and scheme.lower() != "ssh":
        raise _refusal(text, f"{scheme}:// is not supported")
    rest = (rest if mark else text).removesuffix("/")
    user, at, place = rest.rpartition("@")
    host, port = _split_port(text, place)
    for what, word in (("host", host), *((("user", user),) if at else ())):
        if not word:
            raise _refusal(text, f"it has no {what}")
        if word.startswith("-"):
            raise _refusal(text, f"the {what} begins with a hyphen")
        if not word.isprintable() or set(word) & set(" '\"\\/`$;&|<>()"):
            raise _refusal(
                text, f"the {what} contains {'a slash' if '/' in word else 'a character'} that is not allowed"
            )
    return Address(host, user or None, port)


def _split_port(text: str, place: str) -> tuple[str, int | None]:
    if place.startswith("["):  # an IPv6 address
        host, bracket, rest = place[1:].partition("]")
        colon, word = rest[:1], rest[1:]
        if not bracket or colon not in {"", ":"}:
            raise _refusal(text, "its brackets do not match")
    elif place.count(":") > 1:
        return place, None
    else:
        host, colon, word = place.partition(":")
    if not colon:
        return host, None
    if not (word.isascii() and word.isdecimal() and 1 <= int(word[:6]) <= LAST_PORT):
        raise _refusal(text, f"the port must be from 1 to {LAST_PORT}")
    return host, int(word)


def _refusal(text: str, why: str) -> UserError:
    return UserError(f"the host {text!r} is not an address: {why}", HINT)
