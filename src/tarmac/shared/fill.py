"""The placeholders of a command with `--fill`: `{gpus}`, `{gpu_count}`, `{job_id}` and `{port}`.

The controller checks them at the submit, the agent fills them in at the start. `{{` and `}}` stand for single braces.
"""

from __future__ import annotations

import re
from typing import Container, Dict, Iterable, Mapping, NamedTuple, Optional

NAMES = ("gpus", "gpu_count", "job_id", "port")
_BRACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class Trouble(NamedTuple):
    """Why a text cannot be filled in: the text has an unknown placeholder, or a single brace."""

    text: str
    placeholder: Optional[str]  # as it is written, with its braces; None: a single brace


def trouble(texts: Iterable[str], names: Container[str] = NAMES) -> Optional[Trouble]:
    """Return what is wrong with the first of the texts that cannot be filled in."""
    for text in texts:
        for found in _BRACE.finditer(text):
            if found.group(1) is None:
                if len(found.group()) == 1:
                    return Trouble(text, None)
            elif found.group(1) not in names:
                return Trouble(text, found.group())
    return None


def fill(text: str, values: Mapping[str, str]) -> str:
    return _BRACE.sub(lambda found: _value(found.group(), found.group(1), values), text)


def _value(written: str, name: Optional[str], values: Mapping[str, str]) -> str:
    return written[0] if name is None else values[name]


def values_of(env: Mapping[str, str], port: int) -> Dict[str, str]:
    """The values for a job, from the variables that Tarmac sets for it."""
    gpus = env["TARMAC_GPUS"]
    return {
        "gpus": gpus,
        "gpu_count": str(len(gpus.split(",")) if gpus else 0),
        "job_id": env["TARMAC_JOB_ID"],
        "port": str(port),
    }
