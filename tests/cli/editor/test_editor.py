"""The loop around the user's editor: nothing is lost, whatever goes wrong."""

from pathlib import Path

import pytest

from tarmac.cli.editor.editor import edit_until, editor_command
from tarmac.errors import UserError


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that runs the lines of this file, one for each time it is opened."""
    path, editor = tmp_path / "script", tmp_path / "my editor"
    editor.write_text(f'#!/bin/sh\nshift\nline=$(head -n 1 "{path}")\nsed -i 1d "{path}"\nFILE=$1 sh -c "$line"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"'{editor}' --wait")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return path


def files(tmp_path: Path) -> list[Path]:
    return sorted(tmp_path.glob("tarmac-*.toml"))


def test_the_edited_text_is_accepted(script: Path, tmp_path: Path) -> None:
    script.write_text("echo b = 2 >> $FILE\n")
    assert edit_until("a = 1\n", lambda text: text, name="x") == "a = 1\nb = 2\n"
    assert files(tmp_path) == []


def test_an_unchanged_text_is_nothing(script: Path, tmp_path: Path) -> None:
    script.write_text("true\n")
    assert edit_until("a = 1\n", lambda text: text, name="x") is None
    assert files(tmp_path) == []


def test_a_refusal_opens_it_again_with_the_message_and_the_text(script: Path, tmp_path: Path) -> None:
    script.write_text(f"echo wrong >> $FILE\ncp $FILE {tmp_path}/seen; sed -i s/wrong/right/ $FILE\n")

    def accept(text: str) -> str:
        if "wrong" in text:
            raise UserError("it is wrong\nin two lines", "write right")
        return text

    assert edit_until("a\n", accept, name="x") == "a\nright\n"
    assert (tmp_path / "seen").read_text() == (
        "#! it is wrong\n#! in two lines\n#! write right\n#! Correct it, or leave the file as it is to give up.\n"
        "a\nwrong\n"
    )


def test_giving_up_after_a_refusal_keeps_the_text_and_tells_why(
    script: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script.write_text("echo wrong >> $FILE\ntrue\n")

    def refuse(_: str) -> None:
        raise UserError("no", "say yes")

    with pytest.raises(UserError, match="nothing was changed") as given_up:
        edit_until("a\n", refuse, name="x")
    [left] = files(tmp_path)
    assert given_up.value.hint == f"your text is in {left}"
    assert left.read_text().endswith("a\nwrong\n")
    assert capfd.readouterr().err == "tarmac: no\nsay yes\n"


def test_an_editor_that_writes_the_same_mistake_again_is_not_opened_without_end(script: Path) -> None:
    script.write_text("echo '%%% [[' > $FILE\n" * 3)

    def refuse(_: str) -> None:
        raise UserError("no")

    with pytest.raises(UserError, match="nothing was changed"):
        edit_until("a\n", refuse, name="x")
    assert len(script.read_text().splitlines()) == 1


def test_an_editor_that_only_appends_is_not_opened_without_end(script: Path, tmp_path: Path) -> None:
    script.write_text("echo wrong >> $FILE\n" * 5)

    def refuse(_: str) -> None:
        raise UserError("no")

    with pytest.raises(UserError, match="the same mistake came 3 times; nothing was changed"):
        edit_until("a\n", refuse, name="x")
    assert len(script.read_text().splitlines()) == 2
    assert files(tmp_path)[0].read_text().endswith("a\nwrong\nwrong\nwrong\n")


@pytest.mark.parametrize("lines", [": > $FILE\n", "echo > $FILE\n", "echo wrong > $FILE\n: > $FILE\n"])
def test_an_emptied_file_changes_nothing(script: Path, tmp_path: Path, lines: str) -> None:
    script.write_text(lines)

    def refuse(_: str) -> None:
        raise UserError("no")

    assert edit_until("a\n", refuse, name="x") is None
    assert files(tmp_path) == []


def test_a_file_that_the_editor_removes_changes_nothing(script: Path) -> None:
    script.write_text("rm $FILE\n")
    with pytest.raises(UserError, match="the editor removed the file; nothing was changed"):
        edit_until("a\n", lambda text: text, name="x")


@pytest.mark.parametrize(("line", "is_left"), [("exit 3\n", False), ("echo b >> $FILE; exit 3\n", True)])
def test_an_editor_that_fails_changes_nothing(script: Path, tmp_path: Path, line: str, is_left: bool) -> None:
    script.write_text(line)
    with pytest.raises(UserError, match="ended with code 3; nothing was changed") as failed:
        edit_until("a\n", lambda text: text, name="x")
    assert [bool(files(tmp_path)), "your text is in" in (failed.value.hint or "")] == [is_left, is_left]


def test_an_editor_that_does_not_exist_leaves_no_file(
    tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="cannot be started"):
        edit_until("a\n", lambda text: text, name="x")
    assert files(tmp_path) == []


def test_visual_comes_first_and_may_have_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "vi")
    monkeypatch.setenv("VISUAL", "code --wait 'a b'")
    assert editor_command() == ["code", "--wait", "a b"]
    monkeypatch.setenv("VISUAL", "TERM=x emacs")
    assert editor_command()[0] == "TERM=x"
    monkeypatch.setenv("VISUAL", "nowhere-to-be-found")
    with pytest.raises(UserError, match="nowhere-to-be-found cannot be started"):
        edit_until("a\n", lambda text: text, name="x")
