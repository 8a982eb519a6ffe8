"""The text format of Prometheus, version 0.0.4. Pure.

Written by hand: it is short, and the client library would keep a second copy of what the controller knows.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Kind: TypeAlias = Literal["counter", "gauge", "histogram"]


class Sample(NamedTuple):
    value: float
    labels: Mapping[str, str] = {}
    suffix: str = ""  # of a histogram: _bucket, _sum or _count


def family_text(name: str, kind: Kind, help_text: str, samples: Iterable[Sample]) -> str:
    lines = [f"# HELP {name} {_escaped(help_text)}", f"# TYPE {name} {kind}"]
    lines += [f"{name}{sample.suffix}{_labels(sample.labels)} {_number(sample.value)}" for sample in samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    pairs = [f'{name}="{_escaped(value).replace(chr(34), chr(92) + chr(34))}"' for name, value in labels.items()]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    if value == inf:
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(float(value))


def bound_text(bound: float) -> str:
    """The label `le` of a bucket."""
    return "+Inf" if bound == inf else f"{bound:g}"
