"""A job that is not queued yet, as one line: how its command is split, and its options."""

from __future__ import annotations

from tarmac.cli.render.text import command_line, counted, safe
from tarmac.shared.job_options import BY_WIRE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def described(request: Mapping[str, Any]) -> str:
    """`python train.py 'a b'  (gpus 2, time 1h)`. The values of variables are not shown."""
    command = request.get("shell") or request["command"]
    words = f"sh -c {command_line([command])}" if isinstance(command, str) else command_line(command)
    options = options_text(request, request.get("origins", {}))
    return f"{safe(words)}  ({options})" if options else safe(words)


def options_text(options: Mapping[str, Any], origins: Mapping[str, str] | None = None) -> str:
    """`gpus 2 from .tarmac.toml, time 1h`: each value as one types it."""
    parts = [
        f"{_text(name, value)}{origin_words((origins or {}).get(name), ' from ')}"
        for name, value in options.items()
        if name in BY_WIRE and value is not None and value is not False
    ]
    return safe(", ".join(parts))


def array_text(indices: str, max_running: int | None) -> str:
    """`100 jobs, indices 0-99, at most 8 at once`."""
    from tarmac.shared.indices import parse_indices  # loads `typing`, which `show` does not need

    jobs = counted(sum(map(len, parse_indices(indices))), "job")
    return f"{jobs}, indices {indices}" + (f", at most {max_running:,} at once" if max_running else "")


def origin_words(origin: str | None, before: str = ", from ") -> str:
    """The file without its directory, or the template."""
    return "" if not origin else f"{before}{origin.rpartition('/')[2]}"


def _text(wire: str, value: Any) -> str:
    from tarmac.typed.written import written  # `show` does not need it

    option = BY_WIRE[wire]
    name = option.name.partition(" ")[0].replace("_", "-")
    if value is True:
        return name
    if name == "env" and isinstance(value, list):
        value = [text.partition("=")[0] for text in value]
    elif option.read:
        value = written(option, [value] if name == "signal" else value)
    return f"{name} {','.join(map(str, value)) if isinstance(value, list) else value}"
