"""Parsers of typed values: counts, durations, times, sizes, shares, percentages and lists of GPUs.

Each returns the value or raises ValueError with a message that says what to type instead.
"""

from __future__ import annotations

from tarmac.shared.names import CONDITIONS, JOB_EVENTS, MOST_RETRIES, ON_OOM, RETRY_KINDS, TIERS
from tarmac.shared.units import LONGEST_S, parse_decimal, parse_duration, parse_size
from tarmac.typed.option import shown, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_COPIES = 1_000_000
MOST_LABEL = 4096  # characters
MOST_NOTE = 100_000  # characters
MOST_GPUS = 4096  # bounds the cost of 0-999999999


def integer(word: str) -> int:
    digits = word[1:] if word[:1] in {"-", "+"} else word
    if not _is_digits(digits):
        raise ValueError("it must be a whole number")
    return int(word) if len(word) < 12 else _too_large()


def count(word: str) -> int:
    number = integer(word)
    if number < 0:
        raise ValueError("it must be 0 or more")
    return number


def retries(word: str) -> int:
    number = count(word)
    if number > MOST_RETRIES:
        raise ValueError(f"it must be from 0 to {MOST_RETRIES}")
    return number


def positive(word: str) -> int:
    number = integer(word)
    if number < 1:
        raise ValueError("it must be 1 or more")
    return number


def seconds(word: str) -> float:
    """30, 30s, 1m30s: a number without a unit is seconds."""
    return parse_duration(word, bare_is_seconds=True)


def duration(word: str) -> float:
    """Seconds of 6h, 90m, 1-12:00:00. A unit is required, because a plain number is ambiguous."""
    number = parse_duration(word)
    if number <= 0:
        raise ValueError("it must be more than 0")
    if number > LONGEST_S:
        raise ValueError("it is too long")
    return number


def moment(word: str) -> float:
    """Seconds since 1970 of 22:00, `in 3h`, `tomorrow 9:00`."""
    from tarmac.shared.clocks import parse_moment

    return parse_moment(word)


def past(word: str) -> float:
    """Seconds since 1970 of 10m (ago), 14:30, 2026-11-01."""
    from tarmac.shared.clocks import parse_past

    return parse_past(word)


def size(word: str) -> int:
    """8G, 512M, 1.5T."""
    number = parse_size(word)
    if number < 1:
        raise ValueError("it must be more than 0")
    return number


def size_or_auto(word: str) -> int | str:
    """8G, or auto."""
    text = word.strip().lower()
    if text == "auto":
        return text
    if not text[:1].isdecimal() and text[:1] not in {"-", "+", "."}:
        raise ValueError("it must be a size, such as 8G or 512M, or auto")
    return size(word)


def share(word: str) -> float:
    """0.5 or 50 %."""
    text = word.strip()
    number = parse_decimal(text.removesuffix("%").rstrip())
    if number is not None and text.endswith("%"):
        number /= 100
    if number is not None and 10 <= number <= 100 and not text.endswith("%"):
        raise ValueError(f"it must be a part of one GPU, from 0 to 1; did you mean {number:g}%?")
    if number is None or not 0 < number <= 1:
        raise ValueError("it must be a part of one GPU, such as 0.5 or 50%")
    return number


def nice(word: str) -> int:
    number = count(word)
    if number > 19:
        raise ValueError("it must be from 0 to 19")
    return number


def percent(word: str) -> int:
    """20% or 20. Refuses 0.2 and a plain 1, which could mean 100% or 1%."""
    text = word.strip()
    number = parse_decimal(text.removesuffix("%").rstrip())
    if number is not None and 0 < number <= 1 and not text.endswith("%"):
        meant = "1% or 100%" if number == 1 else f"{max(1, round(number * 100))}%"
        raise ValueError(f"it must be from 1% to 100%; did you mean {meant}?")
    if number is None or number != int(number) or not 1 <= number <= 100:
        raise ValueError("it must be a whole percentage from 1% to 100%, such as 20%")
    return int(number)


def gpus(word: str) -> list[int]:
    """The indices of 0,2 or 0-3,6: each once, in order."""
    found: set[int] = set()
    for part in word.split(","):
        first, dash, last = part.strip().partition("-")
        if not _is_digits(first) or (dash and not _is_digits(last)):
            raise ValueError("it must be GPU indices, such as 0,2 or 0-3")
        lower, upper = int(first[:9]), int(last[:9]) if dash else int(first[:9])
        if upper < lower:
            raise ValueError(f"the range {part.strip()} ends before it begins")
        if upper >= MOST_GPUS:
            raise ValueError(f"GPU {upper} does not exist")
        found.update(range(lower, upper + 1))
    return sorted(found)


def named_gpus(word: str) -> list[int | str]:
    """Like `gpus`, but also UUIDs or their beginnings: 0,2 or GPU-1a2b."""
    uuids = [part.strip() for part in word.split(",") if _is_uuid(part.strip())]
    rest = ",".join(part for part in word.split(",") if not _is_uuid(part.strip()))
    return [*(gpus(rest) if rest or not uuids else ()), *dict.fromkeys(uuids)]


def _is_uuid(part: str) -> bool:
    """A UUID, which begins with letters and has a hyphen, or NODE:INDEX: never a range."""
    return (":" in part or (part[:1].isalpha() and "-" in part)) and part.isprintable()


def models(word: str) -> list[str]:
    """The names in a100|h100 or a100,h100."""
    names = [name.strip() for name in word.replace(",", "|").split("|")]
    if not all(names):
        raise ValueError("it must be one or more model names, such as a100 or 'a100|h100'")
    return names


def node_names(word: str) -> list[str]:
    """The names in gpu01,gpu02, each once."""
    names = [name.strip() for name in word.split(",")]
    if not all(names):
        raise ValueError("it must be one or more names of nodes, such as gpu01,gpu02")
    return list(dict.fromkeys(names))


def label(word: str) -> str:
    if len(word) > MOST_LABEL:
        raise ValueError(f"it has {len(word):,} characters; choose a shorter text, of at most {MOST_LABEL:,}")
    return text(word)


def tag(word: str) -> str:
    if not word.strip():
        raise ValueError("it is empty; write a word, such as baseline")
    if "," in word:
        raise ValueError("it has a comma; give each tag on its own")
    if not word.isprintable():
        raise ValueError("it has a line break or another control character; write plain text")
    return label(word)


def note(word: str) -> str:
    if len(word) > MOST_NOTE:
        raise ValueError(f"it has {len(word):,} characters; choose a shorter text, of at most {MOST_NOTE:,}")
    return text(word)


def tier(word: str) -> str:
    if word.lower() not in TIERS:
        raise _no_choice([word], TIERS)
    return word.lower()


def targets(word: str) -> list[str]:
    """The names in mail,slack."""
    names = [name.strip() for name in word.split(",") if name.strip()]
    if not names:
        raise ValueError("it must be the name of a target, such as mail")
    if "none" in names and len(names) > 1:
        raise ValueError("none cannot be combined with targets")
    return names


def events(word: str) -> list[str]:
    """The events in start,fail."""
    names = [name.strip().lower() for name in word.split(",") if name.strip()]
    wrong = [name for name in names if name not in JOB_EVENTS]
    if wrong or not names:
        raise _no_choice(wrong, JOB_EVENTS, has_many=True)
    return names


def retry_kinds(word: str) -> list[str]:
    """The ends in exit,oom: each once."""
    kinds = [part.strip().lower() for part in word.split(",")]
    unknown = [kind for kind in kinds if kind not in RETRY_KINDS]
    if unknown:
        raise _no_choice(unknown, RETRY_KINDS, has_many=True)
    return list(dict.fromkeys(kinds))


def on_oom(word: str) -> str:
    if word.lower() not in ON_OOM:
        raise _no_choice([word], ON_OOM)
    return word.lower()


def dependencies(word: str) -> list[str]:
    """`7`, `7:any`, `3-5:fail`, `last`, several with commas; each with its condition, which is `ok` by default."""
    found = []
    for part in filter(None, word.replace(" ", ",").split(",")):
        job, colon, on = part.partition(":")
        if not colon:
            on = "ok"
        if on not in CONDITIONS:
            raise ValueError(f"write ok, fail or any after the colon, not {shown(on)}")
        first, dash, last = job.partition("-")
        if job != "last" and not (is_id(first) and (not dash or is_id(last))):
            raise ValueError(f"{shown(job)} is not a job id; it must be 7, 7:any, 3-5 or last")
        found.append(f"{job}:{on}")
    if not found:
        raise ValueError("it must be a job, such as 7, 7:any or last")
    return found


def group_name(word: str) -> str:
    """A name that cannot be taken for an id."""
    if not word.strip() or word in {"last", "all"} or word.replace("-", "").replace(",", "").isdigit():
        raise ValueError("it must be a name, not a number, `last` or `all`")
    return label(word)


class Indices:
    """The indices of an array, and how many of its jobs may run at once."""

    def __init__(self, text: str, max_running: int | None = None) -> None:
        self.text = text
        self.max_running = max_running


def indices(word: str) -> Indices:
    """0-99, 1-10:2, 1,3,5 and 0-99%8. A plain number is the number of copies: 100 is 0-99."""
    from tarmac.shared.indices import parse_indices

    listed, percent, most = word.partition("%")
    if percent and (not is_id(most) or int(most) < 1):
        raise ValueError("after %, write how many jobs may run at once: 0-99%8")
    if is_id(listed):
        if not 1 <= int(listed) <= MOST_COPIES:
            raise ValueError(f"it must be from 1 to {MOST_COPIES:,} jobs; write {listed}-{listed} for one index")
        listed = f"0-{int(listed) - 1}"
    parse_indices(listed)
    return Indices(listed, int(most) if percent else None)


def _no_choice(wrong: Sequence[str], known: Sequence[str], *, has_many: bool = False) -> ValueError:
    from tarmac.typed.suggest import not_a_choice

    return ValueError(not_a_choice(wrong, known, has_many=has_many))


def signal(word: str) -> int | str:
    """The number of USR1, SIGUSR1 or 10; of USR1@120, which is a warning, the word itself."""
    from tarmac.shared.end_warning import UNCATCHABLE, is_warning, parse_warning, signal_number

    if is_warning(word):
        parse_warning(word)
        return word
    number = signal_number(word)
    if number is None:
        raise ValueError("it must be a signal, such as USR1, INT or 10, or a warning, such as USR1@120")
    if number in UNCATCHABLE:
        raise ValueError("no process can catch that signal; to kill the job at once, use --grace 0")
    return number


def variable(word: str) -> str:
    """NAME=VALUE."""
    name, equals, _ = word.partition("=")
    if not name or not equals:
        raise ValueError("it must be NAME=VALUE")
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"{shown(name)} is not the name of a variable; use letters, digits and underscores")
    if any("\ud800" <= char <= "\udfff" for char in word):
        raise ValueError("it is not UTF-8 and cannot be passed on")
    return word


def environment_path(word: str) -> str:
    """A directory, or the name of a conda environment."""
    if not word:
        raise ValueError("it must not be empty")
    return text(word)


def is_id(text: str) -> bool:
    return _is_digits(text) and len(text) <= 18


def _is_digits(text: str) -> bool:
    return text.isdecimal() and text.isascii()


def _too_large() -> int:
    raise ValueError("it is too large")


def fetched_paths(word: str) -> list[str]:
    """As they are stored: `./results/` is results."""
    return [_plain(path) for path in paths(word)]


def _plain(path: str) -> str:
    parts = [part for part in path.split("/") if part not in {"", "."}]
    return path if path.startswith("/") else "/".join(parts) or "."


def paths(word: str) -> list[str]:
    """Separated by commas."""
    found = [part.strip() for part in word.split(",")]
    if not all(found):
        raise ValueError(f"{word!r} has an empty name")
    return found
