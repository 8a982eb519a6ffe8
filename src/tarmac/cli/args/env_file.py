"""Reads a file of variables for `--env-file`: `NAME=VALUE` lines, as dotenv and Docker Compose write them.

Values are never part of a message: they may be secrets.
"""

from __future__ import annotations

import os

MOST_BYTES = 1_000_000
_FIRST = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_NAME = _FIRST | frozenset("0123456789")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$", "`": "`", "\n": ""}


class Mistake(ValueError):
    """What is wrong in which line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")


def read(path: str) -> list[str]:
    """`NAME=VALUE` for each variable of the file. Raises ValueError."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from None
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Mistake(data.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from None
    return parse(text, os.environ)


def parse(text: str, shell: os._Environ[str] | dict[str, str]) -> list[str]:
    """`shell` has the values of names that stand alone."""
    return _Reader(text.replace("\r\n", "\n")).variables(shell)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def variables(self, shell: os._Environ[str] | dict[str, str]) -> list[str]:
        found: list[str] = []
        while True:
            self._skip(" \t\n")
            if self._is_over:
                return found
            if self._peek == "#":
                self._skip_line()
                continue
            line = self._line
            name = self._name()
            if self._peek == "=":
                self._at += 1
                value = self._value()
            elif name in shell:
                value = shell[name]
            else:
                raise Mistake(line, f"{name} is not set in your shell; write {name}=VALUE")
            if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
                raise Mistake(line, f"the value of {name} is not text")
            found.append(f"{name}={value}")

    # Where it is

    @property
    def _is_over(self) -> bool:
        return self._at >= len(self._text)

    @property
    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    @property
    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _skip(self, chars: str) -> None:
        while not self._is_over and self._text[self._at] in chars:
            self._at += 1

    def _skip_line(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end

    # The parts of a line

    def _name(self) -> str:
        """The name, after an `export`. Only a `=`, a comment or the end of the line may follow."""
        name = self._word()
        if name == "export" and self._peek in {" ", "\t"}:
            self._skip(" \t")
            name = self._word()
        if name[:1] not in _FIRST or not name:
            raise Mistake(self._line, "it does not begin with the name of a variable; write NAME=VALUE")
        after_name = self._at
        self._skip(" \t")
        if self._peek not in {"", "=", "\n"} and not (self._peek == "#" and self._at > after_name):
            raise Mistake(self._line, f"{name} is not followed by =; write NAME=VALUE")
        if self._peek == "#":
            self._skip_line()
        return name

    def _word(self) -> str:
        begin = self._at
        while not self._is_over and self._text[self._at] in _NAME:
            self._at += 1
        return self._text[begin : self._at]

    def _value(self) -> str:
        self._skip(" \t")
        quote = self._peek
        if quote not in {"'", '"'} or not quote:
            return self._plain()
        line = self._line
        self._at += 1
        value = self._quoted(quote, line)
        after_quote = self._at
        self._skip(" \t")
        if self._peek == "#" and self._at > after_quote:
            self._skip_line()
        if self._peek not in {"", "\n"}:
            raise Mistake(self._line, "text follows the closing quote; quote the whole value")
        return value

    def _plain(self) -> str:
        """To the end of the line, or to a `#` after a blank."""
        begin = self._at
        self._skip_line()
        value = self._text[begin : self._at]
        for place in range(len(value)):
            if value[place] == "#" and (place == 0 or value[place - 1] in " \t"):
                value = value[:place]
                break
        return value.rstrip(" \t\r")

    def _quoted(self, quote: str, line: int) -> str:
        """To the closing quote, over several lines if needed. Backslashes count in double quotes only."""
        parts: list[str] = []
        while not self._is_over:
            char = self._text[self._at]
            self._at += 1
            if char == quote:
                return "".join(parts)
            if char == "\\" and quote == '"' and self._peek in _ESCAPES:
                char = _ESCAPES[self._peek]
                self._at += 1
            parts.append(char)
        raise Mistake(line, f"the quote {quote} is not closed")
