"""Options of a sweep whose arguments contain placeholders."""

import pytest

from tarmac.cli.parser import Option
from tarmac.errors import UserError
from tarmac.typed.sweep.options import Deferred, refuse_secrets

ENV = Option("--env", None, "", "NAME", str)


@pytest.mark.parametrize(
    ("word", "value"), [("API_KEY={k}", "abc"), ("{k}", "API_KEY=abc"), ("URL={k}", "postgres://ann:pw@db/x")]
)
def test_a_parameter_that_fills_a_secret_variable_is_refused(word: str, value: str) -> None:
    with pytest.raises(UserError, match=r"k would fill (API_KEY|URL), which looks like a secret") as refused:
        refuse_secrets({"env": ["A=1", Deferred(ENV, word)]}, [{"k": ""}, {"k": value}])
    assert value not in str(refused.value)


def test_other_variables_are_filled() -> None:
    refuse_secrets({"env": [Deferred(ENV, "LR={k}"), Deferred(ENV, "MAX_TOKENS={k}")]}, [{"k": "4096"}])
    refuse_secrets({"env": None}, [{"k": "abc"}])
    assert Deferred(ENV, "LR={k}").value({"k": "1"}) == "LR=1"


def test_a_value_does_not_lead_to_a_directory_above_that_of_the_log() -> None:
    log = Deferred(Option("--log", None, "", "PATH", str), "out/{k}.log")
    assert log.value({"k": "a/b"}) == "out/a/b.log"
    with pytest.raises(UserError, match=r"the value \.\./x of k leaves the directory"):
        log.value({"k": "../x"})
