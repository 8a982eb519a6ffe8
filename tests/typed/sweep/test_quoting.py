"""Values in shell strings: a real shell receives each unchanged and runs none, or the place is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tarmac.errors import UserError
from tarmac.typed.sweep.template import ShellString

HOSTILE = [
    "it's",
    "a b",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned",
    "';touch pwned;'",
    '";touch pwned;"',
    "(touch pwned)",
    "{HOME}",
    "HOME",
    "a[$(touch pwned)]",
    "\ntouch pwned\n",
    "\\",
    "\\'",
    "$'\\n'",
    "a,b",
    "1..3",
    "if",
    "A=1",
    "2",
    "~",
    "#x",
    "))$(touch pwned)",
    "}$(touch pwned)",
    "*",
    "-n",
    "&",
    "\ntouch pwned #",
]
SAFE = [
    "{x}",
    '"{x}"',
    "'{x}'",
    "\\\\{x}",
    '"\\\\{x}"',
    '"a" {x}',
    'a; y=$(printf %s. {x}); echo "$y"',
    "a~{x}",
    "~{x}",
    "{{a,{x}}}",
    "'a'{x}'b'",
    "$'\\t'{x}",
    '"${{HOME}}{x}"',
    '"$(echo a)" {x}',
    '`echo "it\'s"` {x}',
    "$((1 << 2)) {x}",
    '"$((1+1)){x}"',
    "a#{x}",
    "{x}#it",
    "# it's\nprintf '%s\\0' {x}",
    '"it\'s {x}"',
    "'say \"{x}'",
    "<<< a {x}",
    "a \\\n{x}",
    "{x}>/dev/stdout",
    "{x}{x}",
]
REFUSED = [
    "\\{x}",
    '"\\{x}"',
    "`echo {x}`",
    '"${{Y:-{x}}}"',
    "${{Y:-'{x}'}}",
    "${x}",
    '"${x}"',
    '"$HOME{x}"',
    "$HOME{x}",
    "# {x}\n",
    "$'{x}'",
    "$'\\'{x}",
    "$[1+{x}]",
    '"$(echo {x})"',
    "\"`echo '{x}'`\"",
    "<<E\n{x}\nE",
    "<<'{x}'\nE",
    "; a[{x}]=1",
    "; a['{x}']=1",
    "a\\\n# it's {x}",
    "$((1 # ))'{x}\n))",
    '"$((case a in a) echo;; esac); echo {x})"',
    "$(( ${x} ))",
]
CALCULATED = ["$((1+{x}))", '"$((1+{x}))"', "; ((y={x}))", "; [[ {x} -eq 1 ]]", '; [[ 1 -lt "{x}" ]]', "; [[ -v {x} ]]"]


def shell(line: str, cwd: Path, program: str = "bash") -> str:
    return subprocess.run([program, "-c", line], cwd=cwd, stdout=subprocess.PIPE, check=False).stdout.decode()


@pytest.mark.parametrize("place", SAFE)
def test_a_value_arrives_unchanged_and_is_not_run(place: str, tmp_path: Path) -> None:
    template = ShellString(f"printf '%s\\0' {place}")
    for value in HOSTILE:
        line = template.filled({"x": value})
        assert value in shell(line, tmp_path), line
        assert not list(tmp_path.iterdir()), line


@pytest.mark.parametrize("place", REFUSED)
def test_a_place_where_quotes_do_not_work_is_refused(place: str) -> None:
    with pytest.raises(UserError, match=r"^sweep: .*cannot be quoted") as refused:
        ShellString(f"echo {place}")
    assert refused.value.hint


@pytest.mark.parametrize("place", CALCULATED)
def test_arithmetic_takes_whole_numbers_only(place: str, tmp_path: Path) -> None:
    template = ShellString(f"echo {place}")
    assert template.filled({"x": "-12"}) == f"echo {place.format(x='-12')}"
    for value in [*(value for value in HOSTILE if value != "2"), "", "1.5", "PATH"]:
        with pytest.raises(UserError, match="would calculate with"):
            template.filled({"x": value})
    assert shell(ShellString("echo $((5-{x})) $((5+{x}))").filled({"x": "-1"}), tmp_path) == "6 4\n"


def test_comparisons_of_texts_take_every_value(tmp_path: Path) -> None:
    for value in HOSTILE:
        line = ShellString("[[ {x} == \"{x}\" ]] && printf %s '{x}'").filled({"x": value})
        assert shell(line, tmp_path) == value
    assert not list(tmp_path.iterdir())


def test_an_empty_value_does_not_drop_another_value(tmp_path: Path) -> None:
    template = ShellString("printf '<%s>' {y} {x}")
    assert shell(template.filled({"x": "", "y": "-f"}), tmp_path) == "<-f>"
    assert shell(ShellString("printf '<%s>' --a {x}{y}").filled({"x": "", "y": "1"}), tmp_path) == "<--a><1>"


def test_braces_of_the_shell_work_with_fill(tmp_path: Path) -> None:
    template = ShellString('printf %s "${{HOME}}{x}"', fill=("port",))
    assert template.filled({"x": "a b"}) == 'printf %s "${{HOME}}a b"'
    with pytest.raises(UserError, match="cannot be quoted"):
        ShellString('echo "${{Y:-{x}}}"', fill=("port",))
