"""Finds metrics of jobs: the last match of patterns in their logs, and the values in a JSON file of each.

Logs are searched from their end, block by block, so that a log of gigabytes takes no memory and most searches end soon.
A search that takes long is cut into several questions: an answer says where the next one continues.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Pattern, Union

from tarmac.shared.escapes import ESCAPES

if TYPE_CHECKING:
    from tarmac.shared.frames.base import SearchPlace
    from tarmac.shared.frames.to_agent import FindMetricsFrame, MetricFiles
    from tarmac.shared.frames.to_controller import FoundMetrics, MetricsFoundFrame

_BUDGET_S = 1.0  # for one question
_MOST_CPU_S = 1.5  # for one question; a search that keeps to the budget takes less
_MOST_MATCHING_S = 3.0  # for one question, also on a busy machine: the answer must come before the agent gives up
_BLOCK = 1 << 20
_OVERLAP = 4096  # of blocks without an end of a line
_LONGEST = 200  # characters of a value
_LARGEST_JSON = 16 << 20
_MOST_KEYS = 100
_ESCAPES = re.compile(ESCAPES)
_LINE_END = re.compile(rb"[\r\n]")


def find_metrics(request: FindMetricsFrame, reach: Callable[[str], None]) -> MetricsFoundFrame:
    """`reach` is called with each path before it is opened, and raises OSError if its file system hangs."""
    try:
        with _cpu_limit():
            return _found(request, reach)
    except _TooSlow:
        return {"type": "metrics_found", "ref": request.get("ref"), "found": [], "place": None, "is_too_slow": True}


class _TooSlow(Exception):
    pass


@contextmanager
def _cpu_limit() -> Iterator[None]:
    """Patterns may take forever on some lines. Waiting for a file system does not count."""

    def interrupt(*_: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGPROF, interrupt)
    before_alarm = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_PROF, _MOST_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        signal.signal(signal.SIGALRM, before_alarm)


@contextmanager
def _matching(until: float) -> Iterator[None]:
    """Interrupts a match that lasts longer. No file is read meanwhile."""
    signal.setitimer(signal.ITIMER_REAL, max(until - time.monotonic(), 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _found(request: FindMetricsFrame, reach: Callable[[str], None]) -> MetricsFoundFrame:
    deadline = time.monotonic() + _BUDGET_S
    patterns = [(re.compile(one["pattern"]), one["group"]) for one in request["patterns"]]
    found: List[FoundMetrics] = []
    place = request["place"]
    for file in request["files"]:
        if found and time.monotonic() > deadline:
            break
        search = _Search(patterns, file, place, reach, deadline)
        rest = search.run()
        if rest is not None:
            return {"type": "metrics_found", "ref": request.get("ref"), "found": found, "place": rest}
        found.append({"values": search.values, "json": _json_values(file["json"], request["keys"], reach)})
        place = None
    return {"type": "metrics_found", "ref": request.get("ref"), "found": found, "place": None}


class _Search:
    """The search of one job's logs."""

    def __init__(
        self,
        patterns: List[Any],
        files: MetricFiles,
        place: Optional[SearchPlace],
        reach: Callable[[str], None],
        deadline: float,
    ) -> None:
        self.values: List[Optional[str]] = [None] * len(patterns) if place is None else place["values"]
        self._patterns = patterns
        self._paths = files["paths"]
        self._first = 0 if place is None else place["path"]
        self._end: Optional[int] = None if place is None else place["end"]
        self._reach = reach
        self._deadline = deadline
        self._match_until = deadline - _BUDGET_S + _MOST_MATCHING_S

    def run(self) -> Optional[SearchPlace]:
        """Where to continue, if it takes too long."""
        for number, path in list(enumerate(self._paths))[self._first :]:
            if None not in self.values:
                return None
            end = self._search(path, self._end)
            if end is not None:
                return {"path": number, "end": end, "values": self.values}
            self._end = None
        return None

    def _search(self, path: str, end: Optional[int]) -> Optional[int]:
        try:
            self._reach(path)
            with open(path, "rb") as log:
                end = log.seek(0, os.SEEK_END) if end is None else end
                while end > 0 and None in self.values:
                    end = self._search_block(log, end)
                    if end > 0 and time.monotonic() > self._deadline:
                        return end
        except OSError:
            pass  # it does not exist yet, or no longer
        return None

    def _search_block(self, log: Any, end: int) -> int:
        """Search what ends there, from the beginning of a line on. Returns that beginning."""
        start = max(0, end - _BLOCK)
        log.seek(start)
        block = log.read(end - start)
        begin = 0
        if start > 0:
            line_end = _LINE_END.search(block)
            begin = line_end.end() if line_end is not None and line_end.end() < len(block) else 0
        text = block[begin:].decode("utf-8", "replace")
        if "\x1b" in text:
            text = _ESCAPES.sub("", text)
        with _matching(self._match_until):
            for number, (pattern, group) in enumerate(self._patterns):
                if self.values[number] is None:
                    self.values[number] = _last(pattern, group, text)
        if start > 0 and begin == 0:
            return start + min(_OVERLAP, (end - start) // 2)
        return start + begin if start > 0 else 0


def _last(pattern: Pattern[str], group: Union[int, str], text: str) -> Optional[str]:
    found = None
    for match in pattern.finditer(text):
        found = match
    if found is None or found.group(group) is None:
        return None
    value: str = found.group(group)
    return value[:_LONGEST]


def _json_values(path: Optional[str], keys: List[str], reach: Callable[[str], None]) -> Dict[str, Any]:
    """The values under these keys, such as `val.acc`, or all of them. Empty if the file cannot be read."""
    if path is None:
        return {}
    try:
        reach(path)
        with open(path, "rb") as file:
            data = file.read(_LARGEST_JSON + 1)
    except OSError:
        return {}
    leaves: Dict[str, Any] = {}
    _collect(_parsed(data) if len(data) <= _LARGEST_JSON else None, "", leaves)
    if not keys:
        return dict(list(leaves.items())[:_MOST_KEYS])
    return {key: leaves[key] for key in keys if key in leaves}


def _parsed(data: bytes) -> Any:
    """The whole file, or its last line if it has an object on each."""
    text = data.decode("utf-8", "replace")
    for part in (text, text.rstrip().rpartition("\n")[2]):
        try:
            return json.loads(part, parse_constant=str)
        except (ValueError, RecursionError):
            continue
    return None


def _collect(value: Any, key: str, leaves: Dict[str, Any]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            _collect(inner, f"{key}.{name}" if key else str(name), leaves)
    elif isinstance(value, list):
        for number, inner in enumerate(value[:_MOST_KEYS]):
            _collect(inner, f"{key}.{number}" if key else str(number), leaves)
    elif value is not None and key:
        leaves[key] = value[:_LONGEST] if isinstance(value, str) else value
