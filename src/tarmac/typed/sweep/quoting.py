r"""Where the placeholders of a shell string stand, and how a value is quoted there.

Only places where quotes are certain to work take every value: plain words, '…' and "…", also in an unquoted $(…).
Arithmetic takes whole numbers. Other places are refused: in `…`, ${…}, comments and $'…', and after \ or $, the shell
would change a value or run it.
"""

from __future__ import annotations

import re

from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    Place = Literal["", "'", '"', "number"]

BEHIND_A_WORD = " \t\n;&|)<>"
_KEYWORDS = frozenset(
    "case coproc do done elif else esac fi for function if in select then time until while".split()  # noqa: SIM905
)
_PLAIN = re.compile(r"[\w@%+:./-]+", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]+")
_VARIABLE = re.compile(r"\$\w*$", re.ASCII)
_BRACED = re.compile(r"\$\{[^'\"\\`{}()]*\}")
_SUBSTITUTED = re.compile(r"\$\([^'\"\\`()#<]*\)")
_ANSI = re.compile(r"\$'(?:[^'\\]|\\[^'])*'")  # without \\', which sh reads in another way
_BACKTICKS = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*\n")
_SUBSCRIPT = re.compile(r"\w\[[^\]\s]*$")
_CALCULATES = re.compile(r"\s-(?:eq|ne|lt|le|gt|ge|v|R)\s")


def places_of(parts: Sequence[tuple[str, str | None]]) -> list[Place]:
    """The place of each placeholder. `parts`: a literal text, and the name that follows it. Raises UserError."""
    scan = _Scan(calculates=any(_CALCULATES.search(f" {literal} ") for literal, _ in parts))
    found: list[Place] = []
    for literal, name in parts:
        scan.read(literal, name)
        if name is not None:
            found.append(scan.place)
    return found


def quoted(value: str, place: Place, before: str, after: str) -> str:
    """The text that replaces a value. `before`, `after`: the texts around it."""
    if place == "number":
        if not _NUMBER.fullmatch(value):
            raise UserError(
                f"sweep: the shell would calculate with {value!r} or run it",
                "give whole numbers here, such as seed=1..5",
            )
        return value
    if place == "'":
        return value.replace("'", "'\\''")
    if place == '"':
        return re.sub(r'([\\"$`])', r"\\\1", value)
    is_plain = _PLAIN.fullmatch(value) and value not in _KEYWORDS and ".." not in value
    is_special = before.endswith("~") or "[[" in before or after[:1] in tuple("<>=([+")
    return value if is_plain and not is_special else "'" + value.replace("'", "'\"'\"'") + "'"


class _Scan:
    """Reads a shell string up to each placeholder."""

    def __init__(self, *, calculates: bool) -> None:
        """`calculates`: comparisons of numbers are somewhere in the string, so that [[ … ]] may be one."""
        self._calculates = calculates
        self._quotes: Literal["", "'", '"'] = ""
        self._depth = 0  # open parentheses of an arithmetic expression
        self._is_start = True  # a word may begin here, and so may a comment
        self._test = False  # within [[ … ]]
        self._name: str | None = None

    @property
    def place(self) -> Place:
        return "number" if self._depth or self._test else self._quotes

    def read(self, literal: str, name: str | None) -> None:
        self._name = name
        at = 0
        while at < len(literal):
            if self._depth:
                at = self._in_arithmetic(literal, at)
            elif self._quotes == "'":
                end = literal.find("'", at)
                self._quotes = self._quotes if end < 0 else ""
                at = len(literal) if end < 0 else end + 1
            else:
                at = self._unquoted(literal, at) if not self._quotes else self._in_double_quotes(literal, at)
        if name is not None and self._quotes != "'":
            if _VARIABLE.search(literal):
                raise self._refusal("follows $ or the name of a variable", "write {{ and }} for ${{NAME}} of the shell")
            if not self.place and _SUBSCRIPT.search(literal):
                raise self._index()
        self._is_start = False if name is not None else self._is_start

    def _in_arithmetic(self, literal: str, at: int) -> int:
        char = literal[at]
        if char in "'\"\\`#\n" or literal.startswith("esac", at):
            raise UserError(
                f"sweep: the shell string has {char!r} in ((…)), where values cannot be quoted safely",
                "assign the parts to variables first, and write ( ( for subshells",
            )
        self._depth += (char == "(") - (char == ")")
        return at + 1

    def _escape(self, literal: str, at: int) -> int:
        if at + 1 == len(literal):
            if self._name is None:
                return at + 1
            raise self._refusal("follows a backslash", "leave out the backslash: Tarmac quotes the value")
        if literal[at + 1] == "\n":
            if at and literal[at - 1] not in " \t\n":
                raise UserError(
                    "sweep: a backslash at the end of a line follows a word, where values cannot be quoted safely",
                    "write a space before the backslash",
                )
        else:
            self._is_start = False
        return at + 2

    def _in_double_quotes(self, literal: str, at: int) -> int:
        char = literal[at]
        if char == "\\":
            return self._escape(literal, at)
        if char == '"':
            self._quotes = ""
        elif char == "$":
            return self._dollar(literal, at)
        elif char == "`":
            raise _substitution()
        return at + 1

    def _dollar(self, literal: str, at: int) -> int:
        """Behind $$, ${…}, $(…) as a whole, or behind the beginning of what is read on."""
        if literal.startswith("$((", at):
            self._depth = 2
            return at + 3
        if literal.startswith("${", at):
            return self._whole(_BRACED, literal, at, "${…}", "assign it to a variable first: x=${{…}}")
        if literal.startswith("$[", at):
            raise UserError("sweep: the shell string has $[…], where values cannot be quoted", "write $((…))")
        if literal.startswith("$(", at) and self._quotes:
            if (found := _SUBSTITUTED.match(literal, at)) is None:
                raise _substitution()
            return found.end()
        if literal.startswith("$'", at) and not self._quotes:
            return self._whole(_ANSI, literal, at, "$'…'", "use '…' or \"…\"")
        return at + 2 if literal.startswith("$$", at) else at + 1

    def _whole(self, pattern: re.Pattern[str], literal: str, at: int, shown: str, hint: str) -> int:
        found = pattern.match(literal, at)
        if found is None:
            raise UserError(f"sweep: the shell string has {shown} where values cannot be quoted safely", hint)
        return found.end()

    def _unquoted(self, literal: str, at: int) -> int:
        char = literal[at]
        if char == "\\":
            return self._escape(literal, at)
        if char == "#" and self._is_start:
            found = _COMMENT.match(literal, at)
            if found is None and self._name is not None:
                raise self._refusal("is in a comment", "leave out the comment")
            return len(literal) if found is None else found.end()
        is_start, self._is_start = self._is_start, char in BEHIND_A_WORD + "("
        if char == "$":
            return self._dollar(literal, at)
        if char == "`":
            return self._whole(_BACKTICKS, literal, at, "`…`", "write $(…) instead")
        if literal.startswith("<<<", at):
            return at + 3
        if literal.startswith("<<", at):
            raise UserError("sweep: the shell string has a here-document, where values cannot be quoted", "use printf")
        return self._opening(literal, at, is_start=is_start)

    def _opening(self, literal: str, at: int, *, is_start: bool) -> int:
        """Behind a character that may begin an arithmetic expression, a test or quotes."""
        char = literal[at]
        if literal.startswith("((", at):
            self._depth = 2
            return at + 2
        if is_start and re.match(r"\[\[\s|\]\]", literal[at : at + 3]):
            self._test = char == "[" and self._calculates
            return at + 2
        if char in "'\"":
            if self._name is not None and "]" not in literal[at:] and _SUBSCRIPT.search(literal[:at]):
                raise self._index()
            self._quotes = "'" if char == "'" else '"'
        return at + 1

    def _index(self) -> UserError:
        return self._refusal("is an index in […], which the shell calculates", "quote the whole word if it is a text")

    def _refusal(self, where: str, hint: str) -> UserError:
        return UserError(f"sweep: {{{self._name}}} {where}, where a value cannot be quoted", hint)


def _substitution() -> UserError:
    return UserError(
        "sweep: the shell string has $(…) or `…` in double quotes, where values cannot be quoted safely",
        "assign it to a variable first: x=$(…)",
    )
