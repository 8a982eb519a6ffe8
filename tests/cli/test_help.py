import pytest

from tarmac.cli.args.job_options import options_of
from tarmac.cli.help import GROUPS
from tarmac.cli.main import VERBS, run_line, verb_named
from tarmac.typed.option_groups import OPTION_GROUPS


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


@pytest.mark.parametrize("columns", [60, 50])
def test_help_fits_a_narrow_terminal(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr("tarmac.cli.help.width", lambda: columns)
    for verb in ["", *VERBS]:
        lines = printed(capfd, "help", *verb.split()).splitlines()
        usage = {line for line in lines if line.startswith(("Usage:", "       "))}
        assert [line for line in lines if len(line) > columns and line not in usage] == []


@pytest.mark.parametrize("verb", ["add", "run", "edit"])
def test_the_options_of_a_job_are_listed_under_headings(capfd: pytest.CaptureFixture[str], verb: str) -> None:
    text = printed(capfd, verb, "--help")
    for title in ["Names", "When it starts", "If it fails", "Notifications", "Other options"]:
        assert f"\n\n{title}\n  " in text
    group = text.partition("\nIf it fails\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in group.splitlines() if line.split()[0].startswith("-")] == [
        "--retry", "--retry-on", "--retry-delay", "--on-oom",
    ]  # fmt: skip
    for option in options_of(verb):
        assert text.count(f" {option.long} {option.metavar or ''}".rstrip() + " ") >= 1


def test_each_option_of_a_job_has_one_heading() -> None:
    listed = [flag for _, flags in OPTION_GROUPS for flag in flags]
    assert len(listed) == len(set(listed))
    assert {option.long for verb in ("add", "run", "edit") for option in options_of(verb)} <= set(listed)


def test_a_long_example_continues_on_the_next_line(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tarmac.cli.help.width", lambda: 60)
    text = printed(capfd, "add", "--help")
    assert "  tarmac add --time 6h --signal B:USR1@120 --requeue \\\n      python resume.py\n" in text
    assert "'python prepare.py && python train.py'" in text  # not broken within quotes


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


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("log", "--tail", "5"), "-n"),
        (("add", "--max-retries", "3", "true"), "--retry"),
        (("add", "--mail-user", "ann", "true"), "--notify"),
        (("add", "--mail-type", "END", "true"), "--on"),
        (("report", "--month"), "--since"),
        (("pause", "--all"), "`all`"),
        (("ls", "--user", "ann"), "--owner"),
    ],
)
def test_an_option_of_another_tool_suggests_the_right_one(
    capfd: pytest.CaptureFixture[str], words: tuple[str, ...], meant: str
) -> None:
    assert f"did you mean {meant}?" in refused(capfd, *words)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("gpu",), "use drain, resume, forget, slots or ignore-process; `tarmac gpus`"),
        (("gpu", "drian", "0"), "did you mean `tarmac gpu drain`?"),
        (("queue", "pauze"), "did you mean `tarmac queue pause`?"),
        (("queue", "python"), "to queue a command: `tarmac add`"),
        (("notify", "mail"), "use ls or test; for messages about a job"),
    ],
)
def test_a_wrong_verb_after_a_verb_suggests_the_right_one(
    capfd: pytest.CaptureFixture[str], words: tuple[str, ...], hint: str
) -> None:
    assert hint in refused(capfd, *words)
