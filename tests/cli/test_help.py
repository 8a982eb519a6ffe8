import pytest

from tarmac.cli.help import GROUPS
from tarmac.cli.main import VERBS, run_line, verb_named


def printed(capfd: pytest.CaptureFixture[str], *argv: str) -> str:
    assert run_line(argv) == 0
    out, err = capfd.readouterr()
    assert err == ""
    return out


def refused(capfd: pytest.CaptureFixture[str], *argv: str) -> str:
    assert run_line(argv) == 2
    out, err = capfd.readouterr()
    assert out == ""
    return err


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_that_fits_80_columns(capfd: pytest.CaptureFixture[str], verb: str) -> None:
    text = printed(capfd, verb, "--help")
    assert text == printed(capfd, "help", verb)
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith(f"Usage: tarmac {verb}")
    assert "Examples" in text
    for option in verb_named(verb).options:
        assert option.long in text


def test_the_overview_names_every_verb(capfd: pytest.CaptureFixture[str]) -> None:
    text = printed(capfd, "--help")
    assert sorted(name for _, names in GROUPS for name in names) == sorted(VERBS)
    assert max(map(len, text.splitlines())) <= 80
    for verb in VERBS:
        assert f"  {verb} " in text


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_module_is_named_as_the_verb(verb: str) -> None:
    assert verb_named(verb).name == verb


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    assert printed(capfd, "--version") == "tarmac 0.1.0\n"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("lst", "ls"),
        ("staus", "status"),
        ("submit", "add"),
        ("cancel", "kill"),
        ("logs", "log"),
        ("top", "ls -w"),
        ("suspend", "pause"),
        ("freeze", "pause"),
        ("unpause", "resume"),
        ("continue", "resume"),
        ("notifications", "notify"),
        ("sreport", "report"),
        ("KILL", "kill"),
    ],
)
def test_a_wrong_verb_suggests_the_right_one(capfd: pytest.CaptureFixture[str], typed: str, meant: str) -> None:
    assert f"did you mean `tarmac {meant}`?" in refused(capfd, typed)


def test_a_command_typed_without_add_is_recognised(capfd: pytest.CaptureFixture[str]) -> None:
    assert "`tarmac add python train.py 'a b'`" in refused(capfd, "python", "train.py", "a b")


def test_control_characters_in_arguments_are_escaped(capfd: pytest.CaptureFixture[str]) -> None:
    assert "\x1b" not in refused(capfd, "\x1b[2J")
    assert "\x1b" not in refused(capfd, "add", "--\x1b[2J", "true")
    assert "\x1b" not in refused(capfd, "kill", "\x1b[2J")
