"""How the Python client names jobs, and that it documents itself."""

from __future__ import annotations

import inspect

import pytest

from tarmac.client import Client, Job
from tarmac.client.jobs import selection
from tarmac.errors import UserError


def test_a_job_can_stand_for_its_id() -> None:
    assert selection([7, "8-9", Job({"id": 10, "state": "queued"})], {})["ids"] == ["7", "8-9", "10"]
    assert Client(start=False).number_of(Job({"id": 10, "state": "queued"})) == 10


def test_a_list_in_place_of_a_job_is_refused_with_the_remedy() -> None:
    with pytest.raises(UserError, match=r"\[999\] is not a job") as caught:
        Client(start=False).kill([999])  # type: ignore[arg-type]
    assert "*ids" in (caught.value.hint or "")


def test_every_method_has_a_docstring() -> None:
    methods = dict(inspect.getmembers(Client, inspect.isfunction))
    assert [name for name, method in methods.items() if not name.startswith("_") and not method.__doc__] == []
