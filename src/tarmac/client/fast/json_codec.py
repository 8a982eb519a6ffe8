"""JSON for the common verbs, from the C parts of the standard library alone.

`import json` costs a command 10 ms, because it compiles regular expressions. It is used only where the C parts are
missing (PyPy).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner
except ImportError:
    import json

    def encode(value: object) -> str:
        return json.dumps(value, allow_nan=False)

    def decode(text: str) -> Any:
        return json.loads(text)

else:

    class _Settings:
        """What the C scanner reads from a JSONDecoder."""

        strict = True
        object_hook = None
        object_pairs_hook = None
        parse_float = float
        parse_int = int
        parse_constant = float

    def _refuse(value: object) -> Any:
        raise TypeError(f"{type(value).__name__} has no JSON form: {value!r}")

    _scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_Settings())  # type: ignore[arg-type]
    _encode_parts: Callable[[object, int], tuple[str, ...]] = make_encoder(
        None, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, False
    )

    def encode(value: object) -> str:
        return "".join(_encode_parts(value, 0))

    def decode(text: str) -> Any:
        """The value of one JSON text. Raises ValueError if the text is not JSON."""
        try:
            value, end = _scan(text, len(text) - len(text.lstrip()))
            if not text[end:].strip():
                return value
        except (StopIteration, SystemError):
            pass  # without json.decoder the scanner cannot report what is wrong
        from json import loads

        return loads(text)
