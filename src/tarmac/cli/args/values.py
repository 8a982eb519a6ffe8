"""Numbers as people type them: counts, seconds, sizes, shares, per cent and lists of GPUs.

Each reader gives the value or says, as a ValueError, what it should have been.
"""

from __future__ import annotations

UNITS = {
    "B": 0, "K": 10, "KB": 10, "KIB": 10, "M": 20, "MB": 20, "MIB": 20, "G": 30, "GB": 30, "GIB": 30,
    "T": 40, "TB": 40, "TIB": 40,
}  # fmt: skip
MOST_BYTES = 1 << 60
MOST_GPUS = 4096  # so that 0-999999999 is an answer and not an hour


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


def positive(word: str) -> int:
    number = integer(word)
    if number < 1:
        raise ValueError("it must be 1 or more")
    return number


def seconds(word: str) -> float:
    number = _decimal(word.removeprefix("+"))
    if number is None or number >= 1e10:
        raise ValueError("it must be a number of seconds, 0 or more")
    return number


def size(word: str) -> int:
    """8G, 512M, 1.5T, also 8GB and 8GiB: all of them powers of 1024, as GPUs count."""
    text = word.strip().upper()
    digits = text.rstrip("BIKMGT")
    number, power = _decimal(digits.rstrip()), UNITS.get(text[len(digits) :])
    if number is not None and digits == text:
        raise ValueError(f"of what? give the unit: {text}G, {text}M")
    if number is None or power is None:
        raise ValueError("it must be a size, such as 8G, 512M or 1.5T")
    in_bytes = int(number * (1 << power))
    if in_bytes < 1:
        raise ValueError("it must be more than nothing")
    return in_bytes if in_bytes <= MOST_BYTES else _too_large()


def share(word: str) -> float:
    """0.5 or 50 %."""
    text = word.strip()
    number = _decimal(text.removesuffix("%").rstrip())
    if number is not None and text.endswith("%"):
        number /= 100
    if number is not None and 10 <= number <= 100 and not text.endswith("%"):
        raise ValueError(f"it is a part of one GPU, from 0 to 1; {number:g}%?")
    if number is None or not 0 < number <= 1:
        raise ValueError("it must be a part of one GPU, such as 0.5 or 50%")
    return number


def percent(word: str) -> int:
    """20% or 20. Not 0.2, nor a bare 1: elsewhere that is the whole, and here it would be a hundredth."""
    text = word.strip()
    number = _decimal(text.removesuffix("%").rstrip())
    if number is not None and 0 < number <= 1 and not text.endswith("%"):
        meant = "1% or 100%" if number == 1 else f"{max(1, round(number * 100))}%"
        raise ValueError(f"it is in per cent from 1% to 100%; {meant}?")
    if number is None or number != int(number) or not 1 <= number <= 100:
        raise ValueError("it must be whole per cent from 1% to 100%, such as 20%")
    return int(number)


def gpus(word: str) -> list[int]:
    """The indices of 0,2 or 0-3,6: each once, in order."""
    found: set[int] = set()
    for part in word.split(","):
        first, dash, last = part.strip().partition("-")
        if not _is_digits(first) or (dash and not _is_digits(last)):
            raise ValueError("it must be indices of GPUs, such as 0,2 or 0-3")
        lower, upper = int(first[:9]), int(last[:9]) if dash else int(first[:9])
        if upper < lower:
            raise ValueError(f"the range {part.strip()} ends before it begins")
        if upper >= MOST_GPUS:
            raise ValueError(f"no machine has a GPU {upper}")
        found.update(range(lower, upper + 1))
    return sorted(found)


def named_gpus(word: str) -> list[int | str]:
    """The same, and UUIDs or how they begin: 0,2 or GPU-1a2b."""
    uuids = [part.strip() for part in word.split(",") if _is_uuid(part.strip())]
    rest = ",".join(part for part in word.split(",") if not _is_uuid(part.strip()))
    return [*(gpus(rest) if rest or not uuids else ()), *dict.fromkeys(uuids)]


def _is_uuid(part: str) -> bool:
    """All makes begin with letters and a hyphen, so that no range can be meant."""
    return part[:1].isalpha() and "-" in part and part.isprintable()


def models(word: str) -> list[str]:
    """Any of a100|h100; commas do as well."""
    names = [name.strip() for name in word.replace(",", "|").split("|")]
    if not all(names):
        raise ValueError("it must be parts of models' names, such as a100 or 'a100|h100'")
    return names


def _is_digits(text: str) -> bool:
    return text.isdecimal() and text.isascii()


def _decimal(text: str) -> float | None:
    """1, 1.5, .5: none of what float() takes besides (nan, 1e3, 1_000)."""
    whole, _, part = text.partition(".")
    return float(text) if _is_digits(f"{whole}{part}") and len(text) < 20 else None


def _too_large() -> int:
    raise ValueError("it is too large")
