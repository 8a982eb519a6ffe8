r"""What a pattern for logs asks for: `acc=([\d.]+)` is the metric acc, and `(?P<acc>…) (?P<loss>…)` are two."""

from __future__ import annotations

import re
from typing import List, NamedTuple, Union

_NAMED = re.compile(r"\s*([\w./@-]+(?: [\w./@-]+)*)\s*[=:]")


class PatternMetric(NamedTuple):
    name: str
    group: Union[int, str]  # of the pattern, whose last match is the value


class NoValueGroup(ValueError):
    """The pattern has a name, but does not say which part is the value."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def metrics_of(pattern: str) -> List[PatternMetric]:
    """One for each named group; otherwise one, with the name before its `=` or `:`. Raises re.error."""
    compiled = re.compile(pattern)
    if compiled.groupindex:
        return [PatternMetric(name, name) for name in compiled.groupindex]
    named = _NAMED.match(pattern)
    if named is not None and not compiled.groups:
        raise NoValueGroup(named.group(1))
    return [PatternMetric(pattern if named is None else named.group(1), min(compiled.groups, 1))]
