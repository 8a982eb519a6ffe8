"""Templates: each value is one argument, whatever is in it; an empty value drops its argument."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from tarmac.errors import UserError
from tarmac.shared import fill
from tarmac.typed.sweep.template import Command, ShellString, Text, refuse_unknown

ODD = ["a b", "it's", 'say "hi"', "$(id) `id` $HOME", "ü 字", "two\nlines", "{x}", "}{", "-n", "*", "\\", "#", "!"]


@pytest.mark.parametrize("value", ODD)
def test_a_value_is_one_argument_unchanged(value: str) -> None:
    words = Command("echo {x} --x={x} 'in {x} here'").filled({"x": value})
    assert words == ["echo", value, f"--x={value}", f"in {value} here"]


@pytest.mark.parametrize("value", ODD)
def test_a_value_in_a_shell_string_arrives_unchanged_wherever_it_stands(value: str) -> None:
    line = ShellString("""printf '%s\\0' {x} "<{x}>" '[{x}]' --x={x}""").filled({"x": value})
    done = subprocess.run(["bash", "-c", line], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().split("\0")[:-1] == [value, f"<{value}>", f"[{value}]", f"--x={value}"]


@pytest.mark.parametrize("value", ODD)
def test_values_survive_the_placeholders_that_are_filled_in_at_the_start(value: str) -> None:
    (_, word) = Command("echo {x}-{port}-{{a}}", fill=fill.NAMES).filled({"x": value})
    assert fill.fill(word, {"port": "7"}) == f"{value}-7-{{a}}"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("run {x}", ["run"]),
        ("run --flag {x} end", ["run", "end"]),
        ("run -f {x}", ["run"]),
        ("run --flag={x} end", ["run", "end"]),
        ("run flag={x}", ["run", "flag="]),
        ("run --a=1 {x}", ["run", "--a=1"]),
        ("run -- {x}", ["run", "--"]),
        ("run out-{x}.txt", ["run", "out-.txt"]),
        ("run --flag {x} {x}", ["run"]),
        ("run --keep {y} {x}", ["run", "--keep", "1"]),
    ],
)
def test_an_empty_value_drops_its_argument(template: str, words: list[str]) -> None:
    assert Command(template).filled({"x": "", "y": "1"}) == words
    line = ShellString(template).filled({"x": "", "y": "1"})
    assert shlex.split(line) == [word for word in words if word]


def test_braces_are_doubled() -> None:
    assert Command("awk '{{print ${n}}}'").filled({"n": "1"}) == ["awk", "{print $1}"]


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("awk '{print $1'", "single brace"),
        ("a }", "single brace"),
        ("it's", "No closing quotation"),
        ("", "the command is empty"),
    ],
)
def test_what_is_not_a_template_is_refused(template: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        Command(template)


@pytest.mark.parametrize("line", ['echo "$(cat {x})"', 'echo "`cat {x}`"', "cat <<E\n{x}\nE"])
def test_a_place_where_a_value_cannot_be_quoted_is_refused(line: str) -> None:
    with pytest.raises(UserError, match="cannot be quoted"):
        ShellString(line)


def test_an_empty_program_is_refused() -> None:
    with pytest.raises(UserError, match="empty for x=''"):
        Command("{x}").filled({"x": ""})


def test_unknown_and_unused_names_are_refused_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match=r"\{lt\} is not a parameter") as refused:
        refuse_unknown(["lr1", "ltt"], ["lt"])
    assert "did you mean {ltt}?" in (refused.value.hint or "")
    with pytest.raises(UserError, match="parameter seed is not used") as refused:
        refuse_unknown(["lr", "seed"], ["lr"])
    assert "{seed}" in (refused.value.hint or "")


def test_a_path_keeps_the_placeholders_of_the_controller() -> None:
    text = Text("out/{x}-{name}-{id}.log", kept=("id", "name"), is_filled_again=True)
    assert text.filled({"x": "{a}"}) == "out/{{a}}-{name}-{id}.log"
