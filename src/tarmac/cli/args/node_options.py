"""The options of `tarmac node add` and `node edit`: how a node is reached, and what it is used for."""

from __future__ import annotations

from tarmac.cli.parser import Option


def port(word: str) -> int:
    """0 for an empty word: the port of the ssh config."""
    if not word:
        return 0
    if not (word.isdecimal() and word.isascii() and 1 <= int(word) <= 65535):
        raise ValueError("it must be a number from 1 to 65535")
    return int(word)


def variable(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name.isidentifier():
        raise ValueError("it must be NAME=VALUE")
    return name, value


USER = Option("--user", None, "the account there, if it is not the one of your ssh config", "NAME")
PORT = Option("--port", None, "the port of its sshd", "N", port)
ADDRESS = Option("--address", None, "where other nodes reach it, for jobs over several nodes", "HOST")
ENVIRONMENT = Option("--env", "-e", "a variable for the agent there; may be repeated", "K=V", variable, has_many=True)


def host_of(word: str) -> tuple[str | None, str]:
    """The user and the host of USER@HOST."""
    user, _, host = word.rpartition("@")
    return user or None, host
