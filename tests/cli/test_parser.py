import pytest

from tarmac.cli.main import run_line
from tarmac.cli.parser import HelpAsked, Option, Verb, parse
from tarmac.errors import UserError
from tarmac.typed.values import count


def a_verb(*, is_prefix: bool = False) -> Verb:
    options = (
        Option("--gpus", "-g", "how many", "N", count),
        Option("--name", "-n", "a name", "NAME"),
        Option("--tag", None, "a tag", "TAG", has_many=True),
        Option("--follow", "-f", "go on"),
        Option("--keep-agent", "-k", "keep it"),
    )
    return Verb("fly", "fly", usage=("tarmac fly",), run=lambda *_: 0, options=options, is_prefix=is_prefix)


@pytest.mark.parametrize(
    ("argv", "values"),
    [
        (["--gpus", "2"], {"gpus": 2}),
        (["--gpus=2"], {"gpus": 2}),
        (["-g", "2"], {"gpus": 2}),
        (["-g2"], {"gpus": 2}),
        (["-fg2"], {"follow": True, "gpus": 2}),
        (["-fkg", "2"], {"follow": True, "keep_agent": True, "gpus": 2}),
        (["--tag", "a", "--tag=b"], {"tag": ["a", "b"]}),
        (["--name="], {"name": ""}),
        (["--name=a=b"], {"name": "a=b"}),
        (["--name", "--follow"], {"name": "--follow"}),
        (["--keep-agent"], {"keep_agent": True}),
    ],
)
def test_every_way_to_write_an_option_is_read(argv: list[str], values: dict[str, object]) -> None:
    absent = {"gpus": None, "name": None, "tag": [], "follow": False, "keep_agent": False}
    assert parse(a_verb(), argv) == ({**absent, **values}, [])


def test_options_may_follow_arguments() -> None:
    values, words = parse(a_verb(), ["7", "-f", "9-12"])
    assert values["follow"] is True
    assert words == ["7", "9-12"]


def test_options_of_the_command_are_not_parsed() -> None:
    values, words = parse(a_verb(is_prefix=True), ["-g", "2", "python", "train.py", "-g", "3", "--", "--help"])
    assert values["gpus"] == 2
    assert words == ["python", "train.py", "-g", "3", "--", "--help"]


def test_two_dashes_end_the_options() -> None:
    assert parse(a_verb(), ["-f", "--", "-g", "--help"])[1] == ["-g", "--help"]
    assert parse(a_verb(is_prefix=True), ["--", "-strange-program", "-f"])[1] == ["-strange-program", "-f"]


def test_a_single_dash_is_a_word() -> None:
    assert parse(a_verb(), ["-"])[1] == ["-"]


@pytest.mark.parametrize("argv", [["--help"], ["-h"], ["-fh"], ["7", "--help"]])
def test_help_is_asked_for_anywhere_among_the_options(argv: list[str]) -> None:
    with pytest.raises(HelpAsked):
        parse(a_verb(), argv)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--gpu", "2"], "did you mean --gpus?"),
        (["--folow"], "did you mean --follow?"),
        (["-x"], "unknown option -x"),
        (["-fx"], "unknown option -x"),
        (["-follow"], "did you mean --follow?"),
        (["--gpus"], "--gpus needs a value"),
        (["-g"], "-g needs a value"),
        (["--gpus", "many"], "whole number"),
        (["--gpus", "-1"], "0 or more"),
        (["-g-1"], "0 or more"),
        (["--gpus=1.5"], "whole number"),
        (["--gpus", "1" * 30], "too large"),
        (["--gpus", "²"], "whole number"),
        (["--follow=yes"], "takes no value"),
        (["--name", "\udcff"], "not UTF-8"),
    ],
)
def test_an_error_names_the_mistake_and_the_remedy(argv: list[str], words: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(a_verb(), argv)
    assert words in str(caught.value)
    assert caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("flag", ["--name", "--tag", "--project"])
def test_a_label_that_is_too_long_is_refused_in_plain_words(flag: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_line(["add", flag, "x" * 5000, "true"]) == 2
    said = capfd.readouterr().err
    assert "it has 5,000 characters; choose a shorter text, of at most 4,096" in said
    assert len(said) < 500


def test_an_id_beyond_the_database_is_not_found(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_line(["show", "99999999999999999999999"]) == 3
    assert "no job 99999999999999999999999" in capfd.readouterr().err


def test_a_negative_number_is_an_argument_but_never_a_command() -> None:
    assert parse(a_verb(), ["7", "-1", "-f"])[1] == ["7", "-1"]
    with pytest.raises(UserError, match="unknown option -1"):
        parse(a_verb(is_prefix=True), ["-1", "x"])
