import pytest

from tarmac.cli.main import run_line
from tarmac.cli.remote.option import take_host, without_host


@pytest.mark.parametrize(
    ("words", "host", "rest"),
    [
        (["-H", "gpu01", "ls"], "gpu01", ["ls"]),
        (["-Hgpu01", "ls"], "gpu01", ["ls"]),
        (["--remote", "gpu01"], "gpu01", []),
        (["--remote=gpu01", "ls", "-a"], "gpu01", ["ls", "-a"]),
    ],
)
def test_the_host_before_the_verb(words: list[str], host: str, rest: list[str]) -> None:
    assert take_host(words) == (host, rest)


def test_the_words_without_the_host() -> None:
    assert without_host(["-n", "3", "-H", "gpu01", "controller", "--remote=gpu02", "-Hgpu03"]) == [
        "-n",
        "3",
        "controller",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-H"], "-H needs a value"),
        (["ls", "-H"], "ls: -H needs a value"),
        (["--remotes", "ls"], "unknown option --remotes"),
        (["-H", "-x", "ls"], "the host '-x' is not an address: the host begins with a hyphen"),
    ],
)
def test_a_wrong_option(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.setenv("TARMAC_HOST", "")
    assert run_line(words) == 2
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("line", ["zz", "7b7d", "5b315d"])
def test_a_command_line_that_is_none(capfd: pytest.CaptureFixture[str], line: str) -> None:
    assert run_line(["dial-stdio", "--run", line]) == 2
    assert "--run is not a command line" in capfd.readouterr().err
