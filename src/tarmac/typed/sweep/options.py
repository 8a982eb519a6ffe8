"""Options of a sweep's jobs, whose arguments may contain placeholders. These are read once for each job."""

from __future__ import annotations

from tarmac.errors import UserError
from tarmac.typed.option import Option, shown
from tarmac.typed.requests import PATHS
from tarmac.typed.sweep.parameters import RESERVED
from tarmac.typed.sweep.template import Text, in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tarmac.typed.option import Values

_NOT_FOR_SWEEPS = ("array",)
_BY_ITSELF = ("shell",)  # is the command


class Deferred:
    """The argument of an option, to be filled in and read for each job."""

    def __init__(self, option: Option, word: str) -> None:
        is_path = option.name in PATHS  # filled in once more, by the controller
        self.text = Text(word, kept=RESERVED if is_path else (), is_filled_again=is_path)
        self._option = option
        self._read: dict[str, object] = {}

    def value(self, row: Mapping[str, str]) -> object:
        """None if the argument is a single placeholder with an empty value."""
        if (name := self.text.only_name) is not None and not row[name]:
            return None
        if self._option.name in PATHS:
            self._refuse_parents(row)
        word = self.text.filled(row)
        if word not in self._read:
            assert self._option.read is not None
            try:
                self._read[word] = self._option.read(word)
            except ValueError as error:
                raise UserError(
                    f"sweep: {self._option.long} {shown(word)}: {error}", f"this is the job with {in_words(row)}"
                ) from None
        return self._read[word]

    def _refuse_parents(self, row: Mapping[str, str]) -> None:
        """A value may name a directory, but not one above."""
        name = next((name for name in self.text.names if ".." in row[name].split("/")), None)
        if name is not None:
            raise UserError(
                f"sweep: {self._option.long} {self.text.source}: the value {shown(row[name])} of {name} leaves the "
                "directory of the file",
                "use values without `..` in paths",
            )


def sweep_options(options: Iterable[Option]) -> list[Option]:
    """The options of `add` for a sweep."""
    return [_deferring(option) for option in options if option.name not in _NOT_FOR_SWEEPS]


def _deferring(option: Option) -> Option:
    read = option.read
    if read is None or option.name in _BY_ITSELF:
        return option
    option.read = _reader(Option(option.long, option.short, option.help, option.metavar, read), read)
    return option


def _reader(option: Option, read: Callable[[str], object]) -> Callable[[str], object]:
    return lambda word: Deferred(option, word) if "{" in word or "}" in word else read(word)


def deferred_in(values: Values) -> Iterator[Deferred]:
    for value in values.values():
        yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, Deferred))


def refuse_secrets(values: Values, rows: Sequence[Mapping[str, str]]) -> None:
    """Refuse a parameter that fills a secret variable: parameters are stored and shown as they are."""
    texts = [one.text for one in values["env"] or () if isinstance(one, Deferred)]
    if not texts:
        return
    from tarmac.shared.secret_names import is_secret

    for text in texts:
        for row in rows:
            name, _, value = text.filled(row).partition("=")
            if is_secret(name, value):
                raise UserError(
                    f"sweep: {text.names[0]} would fill {name}, which looks like a secret, but parameters are shown",
                    f"export {name} and pass it with --env {name}, or use a file per job: --env-file '{{file}}'",
                )


def read_for(values: Values, row: Mapping[str, str]) -> Values:
    """The options of one job."""
    return {name: _value(value, row) for name, value in values.items()}


def _value(value: object, row: Mapping[str, str]) -> object:
    if isinstance(value, list):
        return [one for one in (_value(item, row) for item in value) if one is not None]
    return value.value(row) if isinstance(value, Deferred) else value
