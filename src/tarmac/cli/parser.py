"""Verbs and their options as tables, and the parser that reads argv by these tables.

A small replacement for argparse, which would double the start-up time of every command.
"""

from __future__ import annotations

from tarmac.errors import UserError
from tarmac.typed.option import NONE, Option, shown, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tarmac.typed.option import Values


__all__ = [
    "HOST",
    "JSON",
    "NONE",
    "HelpAsked",
    "Option",
    "Values",
    "Verb",
    "parse",
    "shown",
    "text",
]  # all that a verb needs

NO = "--no-"  # before the name of a flag: switches it off


class HelpAsked(Exception):  # not an error
    """`--help` is among the options."""


class Verb:
    """A verb of the command line. `is_prefix`: its options end where the user's command begins.

    `verbs`: the verbs that may follow it.
    `lacks`: options that its neighbours have and that make no sense here, each with why and what to do.
    """

    __slots__ = (
        "examples", "is_prefix", "lacks", "name", "notes", "options", "run", "summary", "takes_words", "usage", "verbs",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        summary: str,
        *,
        usage: Sequence[str],
        run: Callable[[Values, list[str]], int],
        options: Sequence[Option] = (),
        examples: Sequence[tuple[str, str]] = (),
        notes: Sequence[str] = (),
        is_prefix: bool = False,
        takes_words: bool = True,
        verbs: Sequence[str] = (),
        lacks: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self.name = name
        self.summary = summary
        self.usage = usage
        self.run = run
        self.options = options
        self.examples = examples
        self.notes = notes
        self.is_prefix = is_prefix
        self.takes_words = takes_words
        self.verbs = verbs
        self.lacks = lacks or {}


JSON = Option("--json", None, "print JSON with the field names of the API")
HOST = Option(
    "--remote", "-H", "use the queue of another machine", "ssh://[USER@]HOST[:PORT]"
)  # before or after any verb


def parse(verb: Verb, argv: Sequence[str]) -> tuple[Values, list[str]]:
    """The values of the options by name (None, False or [] if absent), and the other words."""
    return _Parser(verb).parse(list(argv))


class _Parser:
    def __init__(self, verb: Verb) -> None:
        self.verb = verb
        self.values: Values = {}
        self.by_flag: dict[str, Option] = {"--remote": HOST, "-H": HOST}
        for option in verb.options:
            self.values[option.name] = [] if option.has_many else None if option.read else False
            self.by_flag[option.long] = option
            if option.short:
                self.by_flag[option.short] = option
            if option.can_negate:
                self.by_flag[f"{NO}{option.long[2:]}"] = option

    def parse(self, left: list[str]) -> tuple[Values, list[str]]:
        words: list[str] = []
        while left:
            word = left.pop(0)
            if word == "--":
                return self.values, words + left
            if word.startswith("--"):
                self._long(word, left)
            elif word.startswith("-") and word != "-" and not self._is_number(word):
                self._bundle(word, left)
            else:
                words.append(word)
                if self.verb.is_prefix:
                    return self.values, words + left
        return self.values, words

    def _is_number(self, word: str) -> bool:
        """-1 is a value, which its reader may refuse. A command never begins with a number."""
        return not self.verb.is_prefix and word[1:].lstrip(".")[:1].isdecimal() and word[:2] not in self.by_flag

    def _long(self, word: str, left: list[str]) -> None:
        flag, equals, value = word.partition("=")
        option = self._option(flag)
        if option.read is None:
            if equals:
                raise self._refusal(f"{flag} takes no value, but got {value!r}")
            self.values[option.name] = True if flag == option.long else NONE
        elif option.takes is not None and not equals and not (left and option.takes(left[0])):
            self.values[option.name].append(True)
        else:
            self._keep(option, flag, value if equals else self._next(flag, option, left))

    def _bundle(self, word: str, left: list[str]) -> None:
        """-f, -fn5, -n 5: combined flags, of which the last may take a value."""
        for index in range(1, len(word)):
            option = self._option(f"-{word[index]}", word)
            if option.read is not None:
                value = word[index + 1 :] or self._next(f"-{word[index]}", option, left)
                self._keep(option, f"-{word[index]}", value)
                return
            self.values[option.name] = True

    def _option(self, flag: str, word: str = "") -> Option:
        option = self.by_flag.get(flag)
        if option is not None:
            return option
        if flag in {"--help", "-h"}:
            raise HelpAsked
        if flag in self.verb.lacks:
            raise self._refusal(f"{flag} {self.verb.lacks[flag][0]}", self.verb.lacks[flag][1])
        from tarmac.cli.suggest import nearest_option

        meant = nearest_option(word if len(word) > 2 else flag, [*self.by_flag, "--help"])
        run = f"did you mean {meant}? Run" if meant else "run"
        raise self._refusal(f"unknown option {flag}", f"{run} `tarmac {self.verb.name} --help` to list the options")

    def _next(self, flag: str, option: Option, left: list[str]) -> str:
        if not left:
            raise self._refusal(f"{flag} needs a value", f"{flag} {option.metavar}: {option.help}")
        return left.pop(0)

    def _keep(self, option: Option, flag: str, word: str) -> None:
        assert option.read is not None
        try:
            value = option.read(word)
        except ValueError as error:
            if option.is_secret and "=" in word:
                word = f"{word.partition('=')[0]}=…"
            raise self._refusal(f"{flag} {shown(word)}: {error}", f"{flag} {option.metavar}: {option.help}") from None
        if option.has_many:
            self.values[option.name].append(value)
        else:
            self.values[option.name] = value

    def _refusal(self, message: str, hint: str | None = None) -> UserError:
        return UserError(f"{self.verb.name}: {message}", hint or f"run `tarmac {self.verb.name} --help` for help")
