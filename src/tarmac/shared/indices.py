"""The indices of an array as users write them: `0-99`, `1-10:2`, `1,3,5`."""

from __future__ import annotations

from typing import List, Set

MOST_INDICES = 1_000_000
LARGEST_INDEX = 2**31 - 1


def parse_indices(text: str) -> List[range]:
    """The ranges in the order in which they are written. Raises ValueError, also if an index is given twice."""
    spans = [_span(part.strip()) for part in text.split(",")]
    count = sum(map(len, spans))
    if count > MOST_INDICES:
        raise ValueError(f"it has {count:,} indices; the limit is {MOST_INDICES:,}")
    _refuse_repeated(spans)
    return spans


def _span(part: str) -> range:
    ends, colon, step = part.partition(":")
    first, dash, last = ends.partition("-")
    numbers = [first, last if dash else first, step if colon else "1"]
    if (colon and not dash) or not all(number.isdecimal() and number.isascii() for number in numbers):
        raise ValueError("it must be indices, such as 0-99, 1-10:2 or 1,3,5")
    begin, end, by = (int(number[:20]) for number in numbers)
    if max(begin, end) > LARGEST_INDEX:
        raise ValueError(f"an index must be at most {LARGEST_INDEX:,}")
    if end < begin:
        raise ValueError(f"the range {ends} ends before it begins; write {last}-{first}")
    if by < 1:
        raise ValueError(f"the step of {part} must be 1 or more")
    return range(begin, end + 1, by)


def _refuse_repeated(spans: List[range]) -> None:
    """Ranges can overlap only where their ends do, so most arrays are checked without a look at each index."""
    ordered = sorted(spans, key=lambda span: span[0])
    if all(one[-1] < other[0] for one, other in zip(ordered, ordered[1:])):
        return
    seen: Set[int] = set()
    for span in spans:
        for index in span:
            if index in seen:
                raise ValueError(f"index {index} is given twice")
            seen.add(index)
