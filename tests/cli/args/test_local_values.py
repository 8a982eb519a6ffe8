"""Values that are completed on the machine of the user."""

import pytest

from tarmac.cli.args.local_values import environment_path, variable


@pytest.mark.parametrize("word", ["BAD", "BAD=\udcff"])
def test_a_variable_that_is_not_utf8_is_refused(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("BAD", "x\udcff")
    with pytest.raises(ValueError, match="not UTF-8"):
        variable(word)


def test_a_variable_without_a_value_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "a=b")
    monkeypatch.delenv("NOWHERE", raising=False)
    assert variable("HERE") == "HERE=a=b"
    with pytest.raises(ValueError, match="NOWHERE is not set here"):
        variable("NOWHERE")
    with pytest.raises(ValueError, match="is not the name of a variable"):
        variable("a-b")


def test_the_home_directory_is_that_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert environment_path("~/venv") == "/home/ann/venv"
