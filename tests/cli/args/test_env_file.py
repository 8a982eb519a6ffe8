"""Files of variables for `--env-file`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarmac.cli.args.env_file import parse, read


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("", []),
        ("# only\n\n   # comments\n", []),
        ("A=1\nB=2", ["A=1", "B=2"]),
        ("A=1\r\nB='x'\r\nC\r\n", ["A=1", "B=x", "C=from the shell"]),
        ("export A=1\n\texport\tB = 2 \n", ["A=1", "B=2"]),
        ("export=1", ["export=1"]),
        ("A=\nB=''\nC=\"\"", ["A=", "B=", "C="]),
        ("A=a b # comment\nB=a#b\nC=#nothing\nD=x=y", ["A=a b", "B=a#b", "C=", "D=x=y"]),
        ("A='a # b' # comment\nB=\"c # d\"", ["A=a # b", "B=c # d"]),
        ("A='it is \\n \"raw\"'", ['A=it is \\n "raw"']),
        ('A="tab\\tline\\nquote\\" back\\\\ \\$HOME \\q"', ['A=tab\tline\nquote" back\\ $HOME \\q']),
        ('A="one\ntwo"\nB=3', ["A=one\ntwo", "B=3"]),
        ("KEY='-----BEGIN\nabc=\n-----END'", ["KEY=-----BEGIN\nabc=\n-----END"]),
        ('A="one \\\ntwo"', ["A=one two"]),
        ("C # from here", ["C=from the shell"]),
        ("export C", ["C=from the shell"]),
        ("A=$HOME ${C}", ["A=$HOME ${C}"]),
        ("A=x'y'z", ["A=x'y'z"]),
        ("Ä=1".replace("Ä", "A") + "\nA=ü ☃", ["A=1", "A=ü ☃"]),
    ],
)
def test_variables_are_read_as_dotenv_writes_them(text: str, variables: list[str]) -> None:
    assert parse(text, {"C": "from the shell"}) == variables


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A=1\n1B=2", "line 2: it does not begin with the name of a variable"),
        ("A=1\n=2", "line 2: it does not begin"),
        ("\n\nA.B=s3cret", "line 3: A is not followed by ="),
        ("A B=s3cret", "line 1: A is not followed by ="),
        ("A='s3cret\nB=2\n", "line 1: the quote ' is not closed"),
        ('X=1\nA="s3cret\\"', 'line 2: the quote " is not closed'),
        ("A='one\ntwo's3cret", "line 2: text follows the closing quote"),
        ("A=1\n\nMISSING", "line 3: MISSING is not set in your shell; write MISSING=VALUE"),
        ("A=s3cret\0", "line 1: the value of A is not text"),
    ],
)
def test_a_mistake_names_the_line_and_no_value(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="line") as caught:
        parse(text, {})
    assert str(caught.value).startswith(message)
    assert "s3cret" not in str(caught.value)


def test_files_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "vars"
    for path, message in ((file, "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(ValueError, match=message):
            read(str(path))
    file.write_bytes(b"A=1\nB=\xff\n")
    with pytest.raises(ValueError, match="line 2: it is not UTF-8"):
        read(str(file))
    file.write_bytes(b"A=" + b"x" * 1_000_000)
    with pytest.raises(ValueError, match="more than 1,000,000 bytes"):
        read(str(file))
    file.write_bytes(b"\xef\xbb\xbfA=1\n")
    assert read(str(file)) == ["A=1"]
