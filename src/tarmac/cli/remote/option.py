"""The option `-H` among the words of a command line."""

from __future__ import annotations

from tarmac.cli.parser import HOST
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def take_host(argv: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The host that the first words name, and the words after it."""
    first = argv[0]
    flag, equals, value = first.partition("=")
    if flag == HOST.long and equals:
        return value, argv[1:]
    if first in {HOST.long, HOST.short}:
        if len(argv) < 2:
            raise UserError(f"{first} needs a value", f"{first} {HOST.metavar}: {HOST.help}")
        return argv[1], argv[2:]
    if first.startswith("-H"):
        return first[2:], argv[1:]
    raise UserError(f"unknown option {flag}", f"did you mean {HOST.long}? Run `tarmac --help` for help")


def without_host(argv: Sequence[str]) -> list[str]:
    words: list[str] = []
    while argv:
        if argv[0].startswith("-H") or argv[0].partition("=")[0] == HOST.long:
            _, argv = take_host(argv)
        else:
            words.append(argv[0])
            argv = argv[1:]
    return words
