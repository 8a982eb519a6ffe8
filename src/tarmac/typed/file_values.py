"""Values of job options in files (CSV, JSON, TOML), read by their options."""

from __future__ import annotations

from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.typed.option import NONE, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from tarmac.typed.option import Option

SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": NONE, "no": NONE, "off": NONE, "0": NONE}
LISTED = (
    "gpu_model",
    "gpus_on",
    "exclude_gpus",
    "node",
    "exclude_node",
    "prefer_node",
    "retry_on",
    "on",
    "array",
)  # may be a list, although not repeated
BY_NAME = {option.name: option for option in JOB_OPTIONS}


class Several(list):  # type: ignore[type-arg]
    """Values of an option that may be repeated."""


class TypedValues:
    """Reads values. Remembers what it read: the lines of a file repeat most of them."""

    def __init__(self, options: Iterable[Option], *, has_types: bool = False) -> None:
        """`has_types`: the file tells true from "yes"."""
        self._has_types = has_types
        self.options = {option.name: option for option in options}
        self._read: dict[tuple[str, str], Any] = {}

    def read(self, name: str, value: object) -> Any:
        """The value of an option, as the command line would have it. Raises ValueError with the option's name."""
        option = self.options[name]
        if option.read is None:
            if isinstance(value, bool):
                return value or NONE
            found = SWITCH.get(str(value).lower())
            if found is None or self._has_types:
                quotes = ", without quotes" if self._has_types else ""
                raise ValueError(f"{name} {shown(str(value))}: it must be true or false{quotes}")
            return found
        if isinstance(value, list):
            if option.has_many:
                return Several(self._text(name, word) for word in value)
            if option.name not in LISTED:
                raise ValueError(f"{name} must be {_kind(name, option)}, not a list")
            value = ",".join(map(str, value))
        return self._text(name, value)

    def into(self, given: dict[str, Any], name: str, value: Any) -> None:
        """Add a value that was read to what is given, after others of the same option if it may be repeated."""
        if not self.options[name].has_many:
            given[name] = value
        else:
            given.setdefault(name, []).extend(value if isinstance(value, Several) else [value])

    def _text(self, name: str, value: object) -> Any:
        option = self.options[name]
        if isinstance(value, (bool, dict, list)) or option.read is None:
            raise ValueError(f"{name} must be {_kind(name, option)}")
        text = str(value)
        if (name, text) not in self._read:
            try:
                self._read[name, text] = option.read(text)
            except ValueError as error:
                secret = option.is_secret and "=" in text
                raise ValueError(
                    f"{name} {text.partition('=')[0] + '=…' if secret else shown(text)}: {error}"
                ) from None
        return self._read[name, text]


def _kind(name: str, option: Option) -> str:
    if name == "env":
        return "a list of NAME=VALUE"
    return "a whole number" if option.metavar == "N" else f"text, such as {option.metavar}"
