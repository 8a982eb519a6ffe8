"""Passing on the pages of a listing: the same jobs as decoding them, whatever the answer looks like."""

import json
from typing import Any, cast

import pytest

from tarmac.client.encoded_jobs import encoded_jobs
from tarmac.client.jobs import Jobs

JOBS = [{"id": 1, "name": 'a "],"next":5}'}, {"id": 2, "name": None, "tags": ["x"]}, {"id": 3, "params": {"next": "7"}}]


class Answers:
    """Answers requests for pages of two jobs."""

    def __init__(self, jobs: list[dict[str, Any]], **style: Any) -> None:
        self._jobs, self._style = jobs, style
        self.asked: list[dict[str, Any]] = []

    def call(self, _method: str, _path: str, *, query: dict[str, Any], is_raw: bool) -> bytes:
        assert is_raw
        self.asked.append(query)
        found = [job for job in self._jobs if job["id"] > (query["after"] or 0)]
        after = found[1]["id"] if len(found) > 2 else None
        return json.dumps({"jobs": found[:2], "next": after}, **self._style).encode()


@pytest.mark.parametrize("jobs", [[], JOBS[:1], JOBS[:2], JOBS, JOBS[::-1][:1]])
@pytest.mark.parametrize(
    "style",
    [
        pytest.param({"separators": (",", ":")}, id="as the controller writes it"),
        pytest.param({}, id="with spaces"),
        pytest.param({"separators": (",", ":"), "sort_keys": True, "indent": 1}, id="with line breaks"),
    ],
)
def test_all_pages_become_one_array(jobs: list[dict[str, Any]], style: dict[str, Any]) -> None:
    answers = Answers(jobs, **style)
    assert json.loads(encoded_jobs(cast("Jobs", answers), {"state": "ended"})) == jobs
    assert all(query["state"] == "ended" for query in answers.asked)


def test_the_result_is_ascii_for_programs_that_expect_no_other_encoding() -> None:
    jobs = [{"id": 1, "name": "größe 🚀"}]
    found = encoded_jobs(cast("Jobs", Answers(jobs, separators=(",", ":"), ensure_ascii=False)), {})
    assert found.isascii()
    assert json.loads(found) == jobs
