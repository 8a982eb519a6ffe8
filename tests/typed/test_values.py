import pytest

from tarmac.typed.values import (
    duration,
    gpus,
    integer,
    models,
    percent,
    retries,
    seconds,
    share,
    size,
    size_or_auto,
    tag,
    variable,
)


@pytest.mark.parametrize(("word", "number"), [("0", 0), ("-3", -3), ("+4", 4)])
def test_whole_numbers(word: str, number: int) -> None:
    assert integer(word) == number


@pytest.mark.parametrize("word", ["", "-", "1e3", "0x10", " 1", "1_000"])
def test_values_that_are_not_whole_numbers_are_refused(word: str) -> None:
    with pytest.raises(ValueError):
        integer(word)


@pytest.mark.parametrize("word", ["-1", "nan", "inf", "1e11", "soon", ""])
def test_values_that_are_not_seconds_are_refused(word: str) -> None:
    with pytest.raises(ValueError):
        seconds(word)


@pytest.mark.parametrize(("word", "number"), [("0", 0), ("0.5", 0.5), ("30", 30), ("30s", 30), ("1m30s", 90)])
def test_seconds_accept_a_plain_number_or_a_duration(word: str, number: float) -> None:
    assert seconds(word) == number


@pytest.mark.parametrize("word", ["0", "0G", "-8G", "8"])
def test_a_size_is_positive_and_has_a_unit(word: str) -> None:
    with pytest.raises(ValueError):
        size(word)


@pytest.mark.parametrize(("word", "said"), [("0s", "more than 0"), ("0:00", "more than 0"), ("999d", "too long")])
def test_a_time_limit_is_positive_and_at_most_a_year(word: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        duration(word)


@pytest.mark.parametrize(("word", "number"), [("0.5", 0.5), (".25", 0.25), ("50%", 0.5), ("1", 1.0), ("100%", 1.0)])
def test_shares(word: str, number: float) -> None:
    assert share(word) == number


@pytest.mark.parametrize("word", ["", "0", "2", "101%", "-0.5", "half", "%", "1/2"])
def test_values_that_are_not_shares_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match="part of one GPU"):
        share(word)


@pytest.mark.parametrize(("word", "number"), [("20%", 20), ("20", 20), ("1 %", 1), ("1%", 1), ("100%", 100)])
def test_per_cent(word: str, number: int) -> None:
    assert percent(word) == number


@pytest.mark.parametrize("word", ["", "%", "0", "101", "0.2", "0.5%", "2.5", "-3", "9" * 40])
def test_values_that_are_not_percentages_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match="1% to 100%"):
        percent(word)


@pytest.mark.parametrize(
    ("word", "meant"), [("0.2", "20%?"), (".07", "7%?"), ("1", "1% or 100%?"), ("1.0", "1% or 100%?")]
)
def test_a_fraction_for_a_percentage_suggests_the_percentage(word: str, meant: str) -> None:
    with pytest.raises(ValueError, match=meant.replace("?", r"\?")):
        percent(word)


def test_a_percentage_without_its_sign_for_a_share_suggests_the_sign() -> None:
    with pytest.raises(ValueError, match=r"50%\?"):
        share("50")


@pytest.mark.parametrize(("word", "indices"), [("0", [0]), ("2,0,2", [0, 2]), ("0-3, 6", [0, 1, 2, 3, 6])])
def test_lists_of_gpus(word: str, indices: list[int]) -> None:
    assert gpus(word) == indices


@pytest.mark.parametrize("word", ["", "0,", "a", "3-1", "-1", "0-", "0-999999999", "1" * 40])
def test_values_that_are_not_lists_of_gpus_are_refused(word: str) -> None:
    with pytest.raises(ValueError):
        gpus(word)


def test_models_are_parts_of_names() -> None:
    assert models("a100|h100") == models("a100, h100") == ["a100", "h100"]
    for word in ("", "|", "a100||h100"):
        with pytest.raises(ValueError, match="model names"):
            models(word)


def test_a_wrong_word_for_gpu_memory_names_auto() -> None:
    assert size_or_auto("Auto") == "auto"
    with pytest.raises(ValueError, match="or auto"):
        size_or_auto("automatic")


def test_retries_have_the_bound_of_the_api() -> None:
    assert retries("1000") == 1000
    with pytest.raises(ValueError, match="from 0 to 1000"):
        retries("99999999999")


def test_a_variable_without_a_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of this process belongs to the controller where the API reads options."""
    monkeypatch.setenv("SECRET", "x")
    with pytest.raises(ValueError, match="it must be NAME=VALUE"):
        variable("SECRET")


@pytest.mark.parametrize("word", ["", " ", "a,b", "a\nb", "a\x1b[31m"])
def test_a_tag_is_a_word_that_lists_can_show(word: str) -> None:
    with pytest.raises(ValueError, match=r"it is empty|it has a comma|it has a line break"):
        tag(word)
    assert tag("to do") == "to do"


@pytest.mark.parametrize("word", ["A B=1", "1A=1", "a-b=1", "é=1", "A\n=1"])
def test_the_name_of_a_variable_is_checked(word: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a variable"):
        variable(word)
    assert variable("_a1=x y") == "_a1=x y"
