from typing import Any

import pytest

from tarmac.client.requests import submission
from tarmac.errors import UserError


def sent(request: Any) -> dict[str, Any]:
    job: dict[str, Any] = submission([request], {}, 0o22, "token")["jobs"][0]
    return job


def test_a_shell_string_may_be_given_as_shell() -> None:
    assert sent({"shell": "a | b"})["shell"] == sent({"command": "a | b"})["shell"] == "a | b"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"command": ["true"], "shell": "true"}, "both"),
        ({}, "neither"),
        ({"command": [1, 2]}, "1 in the command"),
        ({"command": 7}, "7 is not a command"),
        ({"shell": ["x"]}, "not a command"),
        ({"command": ["true"], "gpus": "2"}, "gpus is '2'"),
    ],
)
def test_an_invalid_job_is_refused_by_name(request_: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        sent(request_)
