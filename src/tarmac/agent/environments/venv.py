"""Virtual environments: which directory is one, and which one was probably meant."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import Callable, Iterator, NamedTuple, Optional

from tarmac.agent.environments.listing import names_in

_USUAL = (".venv", "venv", "env", ".env")
_MOST_ENTRIES = 500  # of a directory that are looked at


class VenvFacts(NamedTuple):
    is_venv: bool
    nearest: Optional[str] = None  # the one that was probably meant


def look_at_venv(path: str, cwd: str, touch: Callable[[str], None] = lambda _: None) -> VenvFacts:
    """`touch` is called before a directory is read, because its file system may hang."""
    touch(path)
    if is_venv(path):
        return VenvFacts(is_venv=True)
    touch(cwd)
    return VenvFacts(False, next(_candidates(path, cwd, touch), None))


def is_venv(path: str) -> bool:
    """True for what `python -m venv`, virtualenv and uv make. Older ones have no pyvenv.cfg."""
    has_mark = any(os.path.isfile(os.path.join(path, name)) for name in ("pyvenv.cfg", "bin/activate"))
    return has_mark and os.path.exists(os.path.join(path, "bin", "python"))


def _candidates(path: str, cwd: str, touch: Callable[[str], None]) -> Iterator[str]:
    """The nearest first: around the path itself, then of a similar name beside it, then in the job's directory."""
    for above in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):  # .venv/bin/activate
        if is_venv(above):
            yield above
    yield from filter(is_venv, [os.path.join(path, name) for name in _USUAL])
    for folder in dict.fromkeys((os.path.dirname(path), cwd)):
        touch(folder)
        names = [name for name in names_in(folder)[:_MOST_ENTRIES] if is_venv(os.path.join(folder, name))]
        near = get_close_matches(os.path.basename(path), names, n=1, cutoff=0.6)
        for name in [*near, *(usual for usual in _USUAL if usual in names), *names]:
            yield os.path.join(folder, name)
