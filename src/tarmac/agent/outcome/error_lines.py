"""Finds the line of a log's end that says why a program failed: of the last traceback, else the first error. Pure.

Anyone can write anything into a log, so lines are cut and patterns are linear.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Iterator, List, NamedTuple, Optional, Set

from tarmac.agent.outcome.memory_patterns import row_of
from tarmac.shared.escapes import ESCAPES

if TYPE_CHECKING:
    from tarmac.shared.frames.reports import Memory

LINE_CHARS = 2000  # that are looked at
SHOWN_CHARS = 500  # that are reported
MOST_ORDINARY = 40  # lines that may follow a message about memory before it counts as survived
TRACEBACK = "Traceback (most recent call last):"

_ESCAPES = re.compile(ESCAPES)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
# What launchers and loggers put before a line: `[rank0]: `, `(EngineCore_0 pid=12) `, `0: `, `[1,2]<stderr>:`.
_PREFIX = re.compile(
    r"(?:\[(?:rank|default)\d+\]: ?|\([\w.\- ]+ pid=\d+(?:, ip=[\d.]+)?\) ?|\[\d+,\d+\]<std(?:err|out)>: ?|"
    r"\d{1,4}: (?=\S))+"
)
# `ERROR 08-12 10:00:00 [core.py:700]` and `2024-05-01 12:00:00,123 - ERROR -`: the message follows after a blank.
_LEVEL = r"(?:ERROR|CRITICAL|FATAL)"
_TIME = r"\[?\d{2,4}-\d\d(?:-\d\d)?[ T]\d\d:[\d:.,]{4,16}Z?\]?"
_STAMP = re.compile(
    rf"{_LEVEL} {_TIME}(?: \[[^\]]{{1,80}}\])?|{_TIME}(?: - [\w.]{{1,80}})?[ :-]{{1,3}}\[?{_LEVEL}\]?(?: -|:)?"
)
_CONTINUES = re.compile(r"\s|\^|\| |\+-|During handling of the above|The above exception was")
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:: |:?$)")
_SYNTAX = re.compile(r"(?:SyntaxError|IndentationError|TabError)\b")
_MOST_PLACE_LINES = 6
_WORD = re.compile(r"\w")
# What the failure of one process causes in its launcher and its peers: the cause is elsewhere.
_CONSEQUENCE = re.compile(
    r"\bChildFailedError\b|\bCalledProcessError\b|\bProcessExitedException\b|\bProcessRaisedException\b|\bDistBackendError\b|"
    r"\bDistNetworkError\b|\bDistStoreError\b|\bConnection(?:Reset|Refused|Aborted)?Error\b|\bBrokenPipeError\b|\bEOFError\b|"
    r"Engine core initialization failed|Engine core proc|\bEngineDeadError\b|\bRayTaskError\b|\bActorDiedError\b|"
    r"\bNCCL (?:communicator was aborted|error)|\bncclUnhandledCudaError\b|\bncclRemoteError\b|"
    r"Connection (?:closed|reset) by peer|Broken pipe|[Ss]ocket [Tt]imeout|[Ww]atchdog caught collective operation|"
    r"DataLoader worker \(pid\(?s?\)? [^)]*\) exited unexpectedly|\bTerminatedWorkerError\b|\bBrokenProcessPool\b|"
    r"\bSystemExit\b|\bKeyboardInterrupt\b|exited with exit code|^srun: error:|^make: \*\*\*"
)
_ERROR = re.compile(
    r"(?i:^(?:\S{1,200} ?)?\b(?:fatal|error|panic|critical|exception)\b ?[:!\]-])|"
    r"^[A-Za-z_][\w.]*(?:Error|Exception)\b(?:: |$)|"
    r"\bSegmentation fault\b|\bcore dumped\b|\bBus error\b|^Killed$|^Aborted\b|"
    r": command not found$|: not found$|: No such file or directory$|: Permission denied$|: bad interpreter|"
    r": cannot execute|^terminate called|\bpanicked at\b|\bAssertion .{0,300} failed\b|\bNo space left on device\b|"
    r"\bDisk quota exceeded\b| ERROR[ :\]]|\[ERROR\]|\bCUDA error:"
)

# Every error line has one of these words, in any case. Most lines have none, so they cost a few looks.
_WORDS = (
    "error", "fatal", "panic", "critical", "exception", "fault", "dumped", "killed", "aborted", "not found",
    "no such file", "permission denied", "interpreter", "cannot execute", "terminate", "assertion", "no space", "quota",
)  # fmt: skip


class Line(NamedTuple):
    number: int
    text: str  # without escapes and prefixes


class Failure(NamedTuple):
    """`begins`: the number of the line to begin reading with: the first of its traceback, or the error itself."""

    error_line: Optional[str]
    memory: Optional[Memory] = None
    begins: Optional[int] = None


def split(text: str) -> List[str]:
    """The lines of a log; of one that a progress bar rewrites, what is written last."""
    return [line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")]


class Place(NamedTuple):
    offset: int  # in bytes
    text: str


def split_bytes(data: bytes) -> List[Place]:
    """The same for bytes, with the offset of each line."""
    places, offset = [], 0
    for line in data.split(b"\n"):
        hidden = line.rstrip(b"\r").rpartition(b"\r")[0]
        begin = offset + (len(hidden) + 1 if hidden else 0)
        places.append(Place(begin, line.rstrip(b"\r").rpartition(b"\r")[2].decode("utf-8", "replace")))
        offset += len(line) + 1
    return places


def find_failure(lines: List[str]) -> Failure:
    """`lines` in the order they were written."""
    plain = [_plain(line) for line in lines]
    blocks = list(_tracebacks(plain))
    fatal = next((block for block in reversed(blocks) if not _CONSEQUENCE.search(block.text)), None)
    memory = _memory_line(plain, blocks, fatal)
    if memory is not None:
        found = row_of(memory.text)
        begins = next((block.begins for block in blocks if block.begins <= memory.number <= block.ends), memory.number)
        return Failure(_shown(memory.text), found.memory if found else None, begins)
    block = fatal or (blocks[-1] if blocks else None)
    if block is not None:
        return Failure(_shown(block.text), None, block.begins)
    first = next((Line(number, line) for number, line in enumerate(plain) if _is_error(line, lines[number])), None)
    return Failure(None) if first is None else Failure(_shown(first.text), None, _place_before(plain, first))


def _place_before(plain: List[str], error: Line) -> int:
    """Python prints the place of a syntax error before it, without the head of a traceback."""
    if _SYNTAX.match(error.text):
        for number in range(error.number - 1, max(-1, error.number - 1 - _MOST_PLACE_LINES), -1):
            if plain[number].lstrip().startswith('File "'):
                return number
            if plain[number][:1] not in " \t":
                break
    return error.number


class _Block(NamedTuple):
    """A traceback, or several in a chain: the last one is what the program failed with."""

    begins: int
    ends: int
    text: str  # the last exception


def _plain(line: str) -> str:
    text = line[:LINE_CHARS]
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    prefix = _PREFIX.match(text)
    if prefix:
        text = text[prefix.end() :]
    stamp = _STAMP.match(text)
    if stamp:
        rest = text[stamp.end() :]
        return rest[1:] if rest[:1] == " " else rest
    return text


def _tracebacks(plain: List[str]) -> Iterator[_Block]:
    number, begins = 0, None  # type: int, Optional[int]
    while number < len(plain):
        if TRACEBACK not in plain[number]:
            number += 1
            continue
        begins = number if begins is None else begins
        number += 1
        while number < len(plain) and (not plain[number].strip() or plain[number][:1] in " \t|+"):
            number += 1
        if number == len(plain):
            return
        text, ends = plain[number].strip(), number
        following = _skip_blank(plain, number + 1)
        if following < len(plain) and plain[following].startswith(("During handling of", "The above exception was")):
            number = following + 1
            continue
        if _EXCEPTION.match(text):
            yield _Block(begins, ends, text)
        begins = None
        number += 1


def _skip_blank(plain: List[str], number: int) -> int:
    """A message may have several lines; what follows it in a chain is named within a few."""
    for at in range(number, min(number + 12, len(plain))):
        if plain[at].startswith(("During handling of", "The above exception was")):
            return at
        if TRACEBACK in plain[at]:
            break
    return number


def _memory_line(plain: List[str], blocks: List[_Block], fatal: Optional[_Block]) -> Optional[Line]:
    """The last message about memory, unless the program went on after it."""
    last = next((number for number in range(len(plain) - 1, -1, -1) if row_of(plain[number]) is not None), None)
    if last is None:
        return None
    if fatal is not None and last < fatal.begins:
        return None
    inside: Set[int] = set()
    for block in blocks:
        inside.update(range(block.begins, block.ends + 1))
    ordinary = 0
    for number in range(last + 1, len(plain)):
        ordinary += number not in inside and _is_ordinary(plain[number])
        if ordinary > MOST_ORDINARY:
            return None
    return Line(last, plain[last].strip())


def _is_ordinary(line: str) -> bool:
    return _WORD.search(line) is not None and not _CONTINUES.match(line) and not _says_error(line)


def _is_error(plain: str, line: str) -> bool:
    """A stamp may say it, too."""
    return _says_error(plain) or (_may_say_error(line) and _STAMP.match(line) is not None)


def _says_error(line: str) -> bool:
    return _may_say_error(line) and _ERROR.search(line) is not None


def _may_say_error(line: str) -> bool:
    lower = line.lower()
    return any(word in lower for word in _WORDS)


def _shown(line: str) -> str:
    text = _CONTROL.sub(" ", line.strip())
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
