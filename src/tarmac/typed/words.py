"""Splits a command line into words as a shell does, without running one: quotes, backslashes and comments.

What only a shell can carry out (pipes, redirections, variables) is refused where it stands, not passed on as words.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BLANKS = frozenset(" \t\n\r\v\f")
OPERATORS = "|&;<>()`"
PATTERNS = "*?"  # not [, which lists in arguments have: layers=[1,2]
SPECIAL = frozenset("'\"\\#$~\n" + OPERATORS + PATTERNS)
HOME_ENDS = frozenset({"", "/", *BLANKS})  # after ~
AFTER_DOLLAR = frozenset("{(_?!*@#$-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
CONTINUATION = "\\\n"  # the command goes on in the next line
KEPT_IN_DOUBLE = '\\"$`'  # a backslash before these is removed inside double quotes


class NotWords(ValueError):
    """Why the text cannot be split, and where: `column` counts from 0. `needs_shell`: a shell could run it."""

    def __init__(self, message: str, column: int, *, needs_shell: bool = False) -> None:
        super().__init__(message)
        self.column = column
        self.needs_shell = needs_shell


def split_words(text: str) -> list[str]:
    """The words. Raises NotWords."""
    if text.isascii() and SPECIAL.isdisjoint(text):
        return text.split()
    return [word for word, _ in words_at(text)]


def words_at(text: str) -> Iterator[tuple[str, int]]:
    """Each word with the column where it begins."""
    at = 0
    while True:
        begin, at = at, _after_blanks(text, at)
        if at == len(text) or text[at] == "#":
            return
        if begin and "\n" in text[begin:at].replace(CONTINUATION, ""):
            raise NotWords(
                "the command has a second line; quote the line break, or let a shell run the command",
                at,
                needs_shell=True,
            )
        word, end = _word(text, at)
        yield word, at
        at = end


def _after_blanks(text: str, at: int) -> int:
    while True:
        if text.startswith(CONTINUATION, at):
            at += len(CONTINUATION)
        elif at < len(text) and text[at] in BLANKS:
            at += 1
        else:
            return at


def _word(text: str, begin: int) -> tuple[str, int]:
    parts: list[str] = []
    at = begin
    while at < len(text) and text[at] not in BLANKS:
        char = text[at]
        if char == "'":
            end = _closing(text, at)
            parts.append(text[at + 1 : end])
        elif char == '"':
            inside, end = _double(text, at)
            parts.append(inside)
        elif char == "\\":
            end = at + 1
            if end == len(text):
                raise NotWords("the line ends with a backslash; write the whole command on one line", at)
            if text[end] != "\n":
                parts.append(text[end])
        else:
            _refuse_shell(text, at, is_first=at == begin)
            end = at
            parts.append(char)
        at = end + 1
    return "".join(parts), at


def _closing(text: str, at: int) -> int:
    end = text.find("'", at + 1)
    if end < 0:
        raise NotWords("the quote ' is not closed", at)
    return end


def _double(text: str, begin: int) -> tuple[str, int]:
    parts: list[str] = []
    at = begin + 1
    while at < len(text):
        char = text[at]
        if char == '"':
            return "".join(parts), at
        if text.startswith(CONTINUATION, at):
            at += len(CONTINUATION)
            continue
        if char == "\\" and text[at + 1 : at + 2] and text[at + 1] in KEPT_IN_DOUBLE:
            at += 1
            char = text[at]
        elif char in "$`":
            _refuse_shell(text, at, is_first=False)
        parts.append(char)
        at += 1
    raise NotWords('the quote " is not closed', begin)


def _refuse_shell(text: str, at: int, *, is_first: bool) -> None:
    char = text[at]
    is_variable = char == "$" and text[at + 1 : at + 2] in AFTER_DOLLAR
    is_home = char == "~" and is_first and text[at + 1 : at + 2] in HOME_ENDS
    if char in OPERATORS or char in PATTERNS or is_variable or is_home:
        peasy = "; a line for GPUPeasy is name;;outfile;;command" if text.startswith(";;", at) else ""
        raise NotWords(f"{char} needs a shell; quote it, or let a shell run the command{peasy}", at, needs_shell=True)
