import subprocess

import pytest

from tarmac.cli.render.text import cells, command_line, cut, padded, safe
from tarmac.shared.units import spans


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\tb\r", "a\\tb\\r"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800", "\\ud800"),
        ("数据 🚀 é", "数据 🚀 é"),
        ("👩‍🔬", "👩‍🔬"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert safe(text) == shown


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("数据", 4), ("🚀", 2), ("e\u0301", 1), ("é", 1), ("─", 1)]
)
def test_cells_are_counted_as_terminals_count_them(text: str, width: int) -> None:
    assert cells(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "abcd…"),
        ("数据集", 6, "数据集"),
        ("数据集", 5, "数据…"),
        ("数据集", 4, "数…"),
    ],
)
def test_cut_text_never_exceeds_the_width(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    assert cells(shown) <= width


def test_padding_counts_cells() -> None:
    assert padded("数", 4) == "数  "
    assert padded("数", 4, right=True) == "  数"


@pytest.mark.parametrize(
    "words",
    [
        ["echo", "a b"],
        ["echo", "it's"],
        ["echo", ""],
        ["echo", "$HOME", "*", "~", "#x", "a\nb"],
        ["a=b", "é"],
        ["\\'\n\x1b\x85é", "\t"],
        ["it's $5", "it's", "don't!", "größe"],
    ],
)
def test_a_shown_command_can_be_typed_into_a_shell(words: list[str]) -> None:
    script = f"printf '%s\\0' {command_line(words)}"
    printed = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout.decode()
    assert printed.split("\0")[:-1] == words
    assert command_line(words).isprintable()


@pytest.mark.parametrize(("numbers", "shown"), [([], ""), ([3], "3"), ([1, 2, 3, 7, 9, 8], "1-3,7-9"), ([4, 2], "2,4")])
def test_spans(numbers: list[int], shown: str) -> None:
    assert spans(numbers) == shown
