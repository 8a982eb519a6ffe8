"""Sentences that are formed outside of the catalogue are said in Chinese, and the table of them fits the sources."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from tarmac.api.wording.catalogue.catalogue import speak
from tarmac.api.wording.chinese.phrases import PHRASES
from tarmac.api.wording.phrases import in_own_words
from tarmac.shared.end_warning import parse_warning
from tarmac.shared.indices import parse_indices
from tarmac.shared.units import parse_duration, parse_size
from tests.api.wording.catalogue.test_chinese import HAN

SOURCES = Path(__file__).parents[3] / "src" / "tarmac"
# Rooms whose sentences reach the page: readers of options and forms, and agents.
READERS = [
    *sorted((SOURCES / "typed").rglob("*.py")),
    *(SOURCES / "shared" / name for name in ("units.py", "clocks.py", "indices.py", "end_warning.py")),
]
AGENTS = [
    SOURCES / "agent" / "run" / "shim" / "exec_command.py",
    SOURCES / "agent" / "environments" / "activation.py",
    SOURCES / "agent" / "gpus" / "health.py",
    SOURCES / "agent" / "gpus" / "xid.py",
]
RAISED = {"ValueError", "UserError", "NotWords", "Mistake", "FieldMistake", "CannotRun", "NoEnvironment"}
VALUE = "\0"


def skeleton(node: ast.AST) -> str | None:
    """The text with a mark in place of each value."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(skeleton(part) or VALUE for part in parts)
        case _:
            return None


def skeleton_of_phrase(english: str) -> str:
    return "".join(text + (VALUE if name is not None else "") for text, name, *_ in Formatter().parse(english))


def sentences(path: Path) -> Iterator[str]:
    """What this file raises."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RAISED:
            for text in map(skeleton, node.args):
                if text is not None and re.search(r"[a-z] [a-z]", text):
                    yield text


KNOWN = {skeleton_of_phrase(english) for english in PHRASES}


@pytest.mark.parametrize("path", READERS + AGENTS[:2], ids=lambda path: str(path.relative_to(SOURCES)))
def test_every_sentence_of_a_reader_is_translated(path: Path) -> None:
    missing = sorted(text.replace(VALUE, "{}") for text in sentences(path) if text not in KNOWN)
    assert not missing, "\n".join(["add to src/tarmac/api/wording/chinese/phrases.py:", *missing])


def test_every_phrase_is_formed_somewhere() -> None:
    formed = {
        skeleton(node)
        for path in READERS + AGENTS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant | ast.JoinedStr)
    }
    assert not sorted(english for english in PHRASES if skeleton_of_phrase(english) not in formed)


@pytest.mark.parametrize("english", sorted(PHRASES))
def test_a_translation_is_chinese_and_has_no_other_values(english: str) -> None:
    chinese = PHRASES[english]
    assert HAN.search(chinese) or "{text}" in english
    values = [name for _, name, *_ in Formatter().parse(english) if name is not None]
    assert {int(name) for _, name, *_ in Formatter().parse(chinese) if name is not None} <= set(range(len(values)))
    assert not chinese.endswith(("。", "."))


def trouble(read: object, text: str) -> str:
    with pytest.raises(ValueError) as raised:
        read(text)  # type: ignore[operator]
    return str(raised.value)


def test_what_a_reader_says_is_said_in_the_language_of_the_request() -> None:
    told = [trouble(parse_duration, "6"), trouble(parse_size, "8"), trouble(parse_indices, "9-3")]
    assert [in_own_words(text) for text in told] == told
    speak("zh")
    try:
        assert [in_own_words(text) for text in told] == [
            "单位是什么？6m 是分钟，6h 是小时，6s 是秒",
            "单位是什么？8G 还是 8M",
            "范围 9-3 的终点小于起点；请写 3-9",
        ]
        assert in_own_words(trouble(parse_warning, "USR1")) == "应为 [B:]SIGNAL@TIME，例如 USR1@120 或 B:USR1@2m"
        assert in_own_words("Xid 79: fell off the bus") == "Xid 79：从总线上掉线（掉卡）"
        assert in_own_words("sweep: 'x=1..2..0': the step of 1..2..0 must not be 0") == (
            "sweep：'x=1..2..0'：1..2..0 的步长不能为 0"
        )
        assert in_own_words("the step of 1..2..0 must not be 0") == "1..2..0 的步长不能为 0"
        assert in_own_words("--hold and --draft exclude each other") == "--hold 和 --draft 不能同时使用"
        assert in_own_words("6: which unit? 6G or 6M") == "6：单位是什么？6G 还是 6M"
        assert in_own_words("reserve N CPU cores") == "申请 N 个 CPU 核"
        assert in_own_words("/data: a sentence that nobody knows") == "/data: a sentence that nobody knows"
        assert in_own_words("a sentence that nobody knows") == "a sentence that nobody knows"
        assert in_own_words(None) is None
    finally:
        speak(None)


def test_a_text_that_nests_without_end_stays_as_it_is() -> None:
    speak("zh")
    try:
        for text in (": " * 1990, ": " * 240, "a: " * 150):
            assert in_own_words(text) == text
    finally:
        speak(None)
