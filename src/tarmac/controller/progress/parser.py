"""Reads how far a job is from the end of its log: tqdm, Keras, rich, `step 300/1000`, `Epoch 3/10`. Pure.

Doubtful matches are not reported: `accuracy 93%` or a date must never look like progress.

Anyone can write anything into a log, so the time is linear in the length of the tail: no pattern scans the rest of a
line from more than one place, and the number of lines that are searched is bounded.
"""

import re
from dataclasses import dataclass

TAIL_BYTES = 8192  # how much of the end of a log to read
LINE_CHARS = 400  # no bar is longer
MOST_LINES = 60  # with numbers that may be progress
MOST_EPOCH_LINES = 200


@dataclass(frozen=True, kw_only=True)
class Progress:
    fraction: float  # 0..1 of the whole job, as far as the log shows
    eta_s: float | None


@dataclass(frozen=True, kw_only=True)
class Epoch:
    done: float  # epochs completed when this line was written
    total: int
    is_header: bool  # only a heading; the steps of this epoch follow


ESCAPES = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]*+(?:\x07|\x1b\\))")
SEGMENTS = re.compile(r"[\r\n]+")
CANDIDATE = re.compile(r"\d\s?(?:%|[kKMGTiB]{0,3}\s?/\s?\d)")  # without this, a line shows no progress
BAR = r"[█▉▊▋▌▍▎▏━╸╺╾─#=>]"
BAR_BEGIN = re.compile(BAR + r"{3,}+")
NUMBER = r"(\d{1,15}(?:\.\d{1,9})?)\s?([kKMGT]i?B?)?"
PAIR = NUMBER + r"\s?/\s?" + NUMBER + r"(?![\d/.:-])"
PERCENT = r"(\d{1,3}(?:\.\d{1,9})?)\s?%"


@dataclass(frozen=True)
class Sought:
    """A pattern, and where to begin: behind the first match of `behind`. (A later one would find nothing else.)"""

    pattern: re.Pattern[str]
    behind: re.Pattern[str] | None = None

    def search(self, segment: str) -> re.Match[str] | None:
        if self.behind is None:
            return self.pattern.search(segment)
        begin = self.behind.search(segment)
        return None if begin is None else self.pattern.search(segment, begin.end())


# Each finds an unambiguous pair "done / total"; the most reliable first.
COUNTS = [
    Sought(re.compile(r"\|\s*" + PAIR), behind=re.compile(r"\d%\s?\|")),  # tqdm: 45%|████▌     | 45/100 [
    # Keras: 45/100 [====>....] or 45/100 ━━━━
    Sought(re.compile(r"^\s*+" + PAIR + r"\s*+(?:\[[=>.]|" + BAR + "{3})")),
    Sought(re.compile(r"\s" + PAIR), behind=BAR_BEGIN),  # rich, pip: ━━━━━━━ 12/50 0:00:05
    Sought(
        re.compile(
            r"(?i)\b(?:global[_ ])?(?:steps?|iter(?:ation)?s?|batch(?:es)?|it|trials?|rounds?|updates?)\b[\s:=#(\[]*+"
            + PAIR
        )
    ),
    Sought(re.compile(r"[\[(]\s*+" + PAIR + r"\s*+(?:\([\d.]{1,9}\s?%\)\s*+)?[\])]")),  # [ 300/1000], (300/1000)
    Sought(re.compile(r"^\s*+" + PAIR + r"\s*$")),  # a line that contains nothing else
]
PERCENTS = [
    Sought(re.compile(PERCENT + r"\s?\|")),  # tqdm without a total
    Sought(re.compile(r"\b" + PERCENT), behind=BAR_BEGIN),  # ━━━━━ 45%, [====>  ] 45%
    Sought(re.compile(r"\b" + PERCENT + r"\s?\[?" + BAR + "{3}")),  # 45% [=====>
    Sought(re.compile(r"(?i)\b(?:progress|completed?|done)\b[\s:=(]*+" + PERCENT)),
    Sought(re.compile(r"(?i)\b" + PERCENT + r"\s(?:done|completed?)\b")),
]
EPOCH = re.compile(r"(?i)\bepochs?\b[\s:=#(\[]*+(\d{1,15})\s?/\s?(\d{1,15})(?![\d/.])(.*)")
EPOCH_BAR = re.compile(
    r"(?i)\bepochs?(?:\s*+:)?\s++\d{1,3}%\s?\|"
)  # a bar that counts epochs, around those of the steps
TIME = r"((?:\d{1,6} days?, )?\d{1,9}(?::\d\d){1,2})"
ETAS = [
    Sought(re.compile(r"<" + TIME + r"[,\]]")),  # tqdm: [00:12<00:15, 3.6it/s]
    Sought(re.compile(r"(?i)\b(?:eta|remaining|time left)\b[:\s=(]*+" + TIME)),
    Sought(re.compile(r"(?i)\b(?:eta|remaining|time left)\b[:\s=(]*+(\d{1,9}(?:\.\d{1,9})?)\s?s\b")),
    Sought(re.compile(r"\d{1,9}:\d\d • " + TIME)),  # rich as Lightning uses it: elapsed • remaining
    Sought(re.compile(r"\s(\d{1,9})s \d{1,9}m?s/step"), behind=BAR_BEGIN),  # Keras 3
    Sought(re.compile(r"%\s" + TIME + r"\s*$"), behind=BAR_BEGIN),  # rich's default columns
]
SCALE = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def read_progress(tail: bytes) -> Progress | None:
    """The newest reading in `tail`, the last TAIL_BYTES of a log or all of a shorter one."""
    segments = SEGMENTS.split(ESCAPES.sub("", tail.decode("utf-8", "replace")))
    if len(tail) >= TAIL_BYTES:
        segments = segments[1:]  # it may begin in the middle of a number
    inner: Progress | None = None
    lines = epoch_lines = 0
    for line in reversed(segments):
        segment = line[:LINE_CHARS]
        has_epoch = "epoch" in segment.lower() and epoch_lines < MOST_EPOCH_LINES
        is_candidate = inner is None and lines < MOST_LINES and CANDIDATE.search(segment) is not None
        epoch_lines += has_epoch
        lines += is_candidate
        if has_epoch and EPOCH_BAR.search(segment):
            return step_in(segment) or inner
        epoch = epoch_in(segment) if has_epoch else None
        if is_candidate:
            inner = step_in(EPOCH.sub(r"\3", segment) if has_epoch else segment)
        if epoch is not None:
            return whole(epoch, inner, segment)
    return inner


def step_in(segment: str) -> Progress | None:
    fraction = count_in(segment)
    if fraction is None:
        fraction = percent_in(segment)
    return None if fraction is None else Progress(fraction=fraction, eta_s=eta_in(segment))


def count_in(segment: str) -> float | None:
    for pattern in COUNTS:
        if found := pattern.search(segment):
            done, done_unit, total, total_unit = found.groups()
            # pip writes "1.2/3.4 MB": the unit applies to both numbers
            unit = SCALE.get((total_unit or "1")[0], 1.0)
            part = float(done) * (SCALE.get(done_unit[0], 1.0) if done_unit else unit)
            if float(total) > 0 and part <= float(total) * unit:
                return part / (float(total) * unit)
    return None


def percent_in(segment: str) -> float | None:
    for pattern in PERCENTS:
        if (found := pattern.search(segment)) and float(found[1]) <= 100:
            return float(found[1]) / 100
    return None


def epoch_in(segment: str) -> Epoch | None:
    found = EPOCH.search(segment)
    if not found or int(found[2]) == 0 or int(found[1]) > int(found[2]):
        return None
    is_header = not found[3].strip(" \t:-=#.)]") or step_in(found[3]) is not None
    done = int(found[1]) - 1 if is_header else int(found[1])
    return Epoch(done=max(done, 0), total=int(found[2]), is_header=is_header)


def whole(epoch: Epoch, inner: Progress | None, segment: str) -> Progress:
    """Steps count within their epoch: half of epoch 3 of 10 is a quarter of the job."""
    if inner is None or not epoch.is_header:
        return Progress(fraction=epoch.done / epoch.total, eta_s=eta_in(segment))
    fraction = (epoch.done + inner.fraction) / epoch.total
    eta_s = inner.eta_s
    if eta_s is not None and inner.fraction < 1:
        eta_s += (epoch.total - epoch.done - 1) * eta_s / (1 - inner.fraction)
    return Progress(fraction=min(fraction, 1.0), eta_s=eta_s)


def eta_in(segment: str) -> float | None:
    for pattern in ETAS:
        if found := pattern.search(segment):
            return seconds(found[1])
    return None


def seconds(words: str) -> float:
    """`15`, `1:05`, `1:02:03`, `1 day, 3:12:11`."""
    days, _, clock = words.rpartition(", ")
    total = 0.0
    for part in clock.split(":"):
        total = total * 60 + float(part)
    return total + 86400 * int(days.split()[0]) if days else total
