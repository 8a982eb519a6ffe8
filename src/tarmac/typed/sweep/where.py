"""The condition of `sweep --where`: comparisons, and, or, not, in, arithmetic and parentheses. Nothing runs as Python.

A value that reads as a number is compared as a number: 1e-3 equals 0.001. Other values are compared as texts.
"""

from __future__ import annotations

import operator
import re
from math import isfinite

from tarmac.errors import UserError
from tarmac.typed.suggest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    Value = float | str | bool
    Node = Callable[[Mapping[str, str]], Value]

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])|(?P<name>[^\W\d]\w*)"""
    r"""|(?P<text>"[^"]*"|'[^']*')|(?P<sign><=|>=|==|!=|<|>|[-+*/%(),\[\]])|(?P<end>$))""",
    re.ASCII,
)
_COMPARED = ("<", "<=", ">", ">=", "==", "!=")
_WORDS = ("and", "or", "not", "in", "true", "false")
_CLOSING = {"(": ")", "[": "]"}
DEEPEST = 50


def condition(text: str, names: Collection[str]) -> Callable[[Mapping[str, str]], bool]:
    """A function of a row. Refuses names that are not parameters."""
    parser = _Parser(text, names)
    node = parser.either()
    if parser.kind != "end":
        raise parser.refusal("is not expected here")
    return lambda row: _met(node, row)


def _met(node: Node, row: Mapping[str, str]) -> bool:
    try:
        return _truth(node(row))
    except RecursionError:
        raise UserError("sweep: --where has too long a sum or product", "write fewer numbers in a row") from None


class _Parser:
    """Each method reads one level of precedence and returns a function of a row."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self._text = text
        self._names = names
        self._at = 0
        self._depth = 0
        self.kind = ""
        self.word = ""
        self._next()

    def either(self) -> Node:
        found = [self._both()]
        while self._takes("or"):
            found.append(self._both())
        return found[0] if len(found) == 1 else lambda row: any(_truth(one(row)) for one in found)

    def _both(self) -> Node:
        found = [self._negated()]
        while self._takes("and"):
            found.append(self._negated())
        return found[0] if len(found) == 1 else lambda row: all(_truth(one(row)) for one in found)

    def _negated(self) -> Node:
        if self._takes("not"):
            self._deeper()
            inner = self._negated()
            self._depth -= 1
            return lambda row: not _truth(inner(row))
        return self._compared()

    def _compared(self) -> Node:
        left = self._sum()
        found: list[Node] = []
        while True:
            if self.word in _COMPARED and self.kind == "sign":
                sign = self._taken()
                right = self._sum()
                found.append(self._comparison(sign, left, right))
                left = right
            elif self.word in {"in", "not"} and self.kind == "name":
                is_negated = self._takes("not")
                if not self._takes("in"):
                    raise self.refusal("is not expected here; write `x not in (1, 2)`")
                found.append(_among(left, self._listed(), is_wanted=not is_negated))
            else:
                break
        if not found:
            return left
        return found[0] if len(found) == 1 else lambda row: all(one(row) for one in found)

    def _comparison(self, sign: str, left: Node, right: Node) -> Node:
        return lambda row: _compare(sign, left(row), right(row))

    def _listed(self) -> list[Node]:
        closing = _CLOSING.get(self.word)
        if closing is None:
            raise self.refusal("must be a list in parentheses: x in (1, 2)")
        self._next()
        found = [self._sum()]
        while self.word == ",":
            self._next()
            if self.word == closing:
                break
            found.append(self._sum())
        self._close(closing)
        return found

    def _sum(self) -> Node:
        node = self._product()
        while self.word in {"+", "-"} and self.kind == "sign":
            node = _arithmetic(self._taken(), node, self._product())
        return node

    def _product(self) -> Node:
        node = self._signed()
        while self.word in {"*", "/", "%"} and self.kind == "sign":
            node = _arithmetic(self._taken(), node, self._signed())
        return node

    def _signed(self) -> Node:
        if self.word in {"-", "+"} and self.kind == "sign":
            self._deeper()
            sign, inner = self._taken(), self._signed()
            self._depth -= 1
            return _arithmetic(sign, lambda _: 0.0, inner)
        return self._single()

    def _single(self) -> Node:
        if self.kind == "number":
            number = float(self._taken())
            return lambda _: number
        if self.kind == "text":
            text = self._taken()[1:-1]
            return lambda _: text
        if self.word == "(":
            self._deeper()
            self._next()
            inner = self.either()
            self._close(")")
            self._depth -= 1
            return inner
        if self.kind != "name":
            raise self.refusal("is missing a value" if self.kind == "end" else "is not expected here")
        if self.word in {"true", "false"}:
            said = self._taken()
            return lambda _: said
        return self._parameter()

    def _parameter(self) -> Node:
        name = self.word
        if name not in self._names:
            meant = nearest(name, [*self._names, *_WORDS])
            if name in _WORDS or meant in _WORDS:
                raise self.refusal("is not expected here")
            known = f"did you mean {meant}?" if meant else f"the parameters are {', '.join(self._names)}."
            raise UserError(
                f"sweep: --where: no parameter is named {name}", f"{known} If it is a text, put it in quotes: {name!r}"
            )
        self._next()
        return lambda row: _read(row[name])

    # Tokens

    def _next(self) -> None:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            rest = self._text[self._at :].strip()
            raise UserError(
                f"sweep: --where: {rest[:20]!r} cannot be read",
                "write comparisons such as `lr < 1e-3 or seed == 1`; quote texts",
            )
        self._at = found.end()
        self.kind = found.lastgroup or "end"
        self.word = found.group(self.kind)

    def _taken(self) -> str:
        word = self.word
        self._next()
        return word

    def _takes(self, word: str) -> bool:
        if self.kind == "name" and self.word == word:
            self._next()
            return True
        return False

    def _close(self, sign: str) -> None:
        if self.word != sign:
            raise self.refusal(f"is there instead of {sign}")
        self._next()

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise UserError("sweep: --where has too many levels of parentheses", "write it more simply")

    def refusal(self, said: str) -> UserError:
        word = repr(self.word) if self.word else "the end"
        return UserError(
            f"sweep: --where: {word} {said}", "write comparisons such as `lr < 1e-3 or seed == 1`; quote texts"
        )


def _read(text: str) -> Value:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) and "_" not in text else text


def _truth(value: Value) -> bool:
    return bool(value) and value != "false"


def _compare(sign: str, left: Value, right: Value) -> bool:
    if sign in {"==", "!="}:
        return (left == right) == (sign == "==")
    if isinstance(left, str) != isinstance(right, str):
        text = left if isinstance(left, str) else right
        raise UserError(
            f"sweep: --where: {text!r} is not a number and cannot be compared with {sign}", "compare it with == or !="
        )
    is_less, is_equal = left < right, left == right  # type: ignore[operator]
    return {"<": is_less, "<=": is_less or is_equal, ">": not is_less and not is_equal, ">=": not is_less}[sign]


def _arithmetic(sign: str, left: Node, right: Node) -> Node:
    def result(row: Mapping[str, str]) -> Value:
        one, other = left(row), right(row)
        for value in (one, other):
            if not isinstance(value, (int, float)):
                raise UserError(f"sweep: --where: {value!r} is not a number", f"{sign} takes numbers")
        assert not isinstance(one, str)
        assert not isinstance(other, str)
        if sign in {"/", "%"} and not other:
            raise UserError("sweep: --where divides by 0", "exclude 0 first: `x != 0 and …`")
        return _CALCULATED[sign](one, other)

    return result


_CALCULATED: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}


def _among(left: Node, listed: list[Node], *, is_wanted: bool) -> Node:
    return lambda row: any(left(row) == one(row) for one in listed) == is_wanted
