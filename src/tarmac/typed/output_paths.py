"""Output files with placeholders: `--log 'out/{name}-{id}.log'`. The controller fills them in when it knows the id."""

from __future__ import annotations

import re

from tarmac.errors import UserError
from tarmac.typed.suggest import nearest

PLACEHOLDERS = ("id", "name", "index")
_BRACE = re.compile(r"\{\{[A-Za-z_]\w*\}\}|\{([A-Za-z_]\w*)\}|[{}]")


def template_of(path: str) -> str | None:
    """The path as the controller reads it, with single braces doubled. None if it has no placeholders."""
    unknown = next((name for name in _BRACE.findall(path) if name and name not in PLACEHOLDERS), None)
    if unknown is not None:
        meant = nearest(unknown, PLACEHOLDERS, cutoff=0.5)
        known = f"did you mean {{{meant}}}? Write" if meant else "use {id}, {name} or, in an array, {index}; write"
        raise UserError(f"{path}: {{{unknown}}} is not a placeholder", f"{known} {{{{{unknown}}}}} for braces")
    if not any(found.group(1) or len(found.group()) > 1 for found in _BRACE.finditer(path)):
        return None
    return _BRACE.sub(lambda found: found.group() if len(found.group()) > 1 else found.group() * 2, path)
