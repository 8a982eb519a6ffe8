"""Exports and imports over HTTP: nothing is lost, nothing is added twice, and wrong lines change nothing."""

from __future__ import annotations

import base64
import os
from typing import Any

import pytest

from tests.api.served import Served


def exported(api: Served, query: str = "") -> dict[str, Any]:
    status, answer = api.ask("GET", f"/history/export?{query}")
    assert status == 200, answer
    return answer  # type: ignore[no-any-return]


def imported(api: Served, header: dict[str, Any], records: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    above = max((record["job"]["id"] for record in records), default=0)
    lines = [{"line": number, "record": record} for number, record in enumerate(records, 2)]
    status, answer = api.ask("POST", "/history/import", {"header": header, "lines": lines, "above": above, **more})
    assert status == 200, answer
    return answer["jobs"]  # type: ignore[no-any-return]


@pytest.fixture
def page(api: Served) -> dict[str, Any]:
    """The export of two jobs, which are removed afterwards."""
    ids = api.ids({"command": ["echo", "one"], "name": "one"}, {"command": ["false"], "gpus": 0, "tags": ["x"]})
    for number in ids:
        api.until(number, "succeeded", "failed")
    page = exported(api, f"ids={ids[0]},{ids[1]}&environment=true")
    assert [record["job"]["id"] for record in page["records"]] == ids
    api.client.rm(*ids)
    return page


def test_a_round_trip_here_loses_nothing(api: Served, page: dict[str, Any]) -> None:
    ids = [record["job"]["id"] for record in page["records"]]
    assert imported(api, page["header"], page["records"]) == [{"id": number, "new": True} for number in ids]
    again = exported(api, f"ids={ids[0]},{ids[1]}&environment=true")
    for mine, theirs in zip(page["records"], again["records"], strict=True):
        assert theirs.pop("original") == {"queue": page["header"]["queue"], "id": mine["job"]["id"]}
        assert theirs == mine
    assert api.ask("GET", f"/jobs/{ids[0]}")[1]["original_id"] == ids[0]
    assert api.ask("GET", f"/jobs/{ids[1]}/events")[1]["events"][0]["kind"] == "JobSubmitted"


def test_importing_twice_adds_nothing_and_doubles_in_a_file_count_once(api: Served, page: dict[str, Any]) -> None:
    first = page["records"][0]
    number = first["job"]["id"]
    assert imported(api, page["header"], [first, first]) == [{"id": number, "new": True}, {"id": number, "new": False}]
    assert imported(api, page["header"], [first]) == [{"id": number, "new": False}]
    api.client.rm(number)
    assert imported(api, page["header"], [first]) == [{"id": number, "new": True}]


def test_a_job_of_another_queue_keeps_a_free_id_and_gets_a_new_one_otherwise(api: Served, page: dict[str, Any]) -> None:
    (mine,) = api.ids({"command": ["true"], "gpus": 0})
    api.until(mine, "succeeded")
    header = {**page["header"], "queue": "another"}
    template = page["records"][0]

    def job(number: int) -> dict[str, Any]:
        return {**template, "job": {**template["job"], "id": number, "submitted_at": 5.0 + number}}

    taken, free, higher = job(mine), job(mine + 50), job(mine + 51)
    first, second, third = imported(api, header, [taken, free, higher])
    assert (first["id"], second["id"], third["id"]) == (mine + 52, mine + 50, mine + 51)
    assert api.ask("GET", f"/jobs/{first['id']}")[1]["original_id"] == mine
    (later,) = api.ids({"command": ["true"], "gpus": 0})
    assert later == mine + 53
    between = imported(api, header, [job(mine + 20)])
    assert between == [{"id": mine + 20, "new": True}]
    api.client.rm(mine + 20)
    other = imported(
        api, {**header, "queue": "third"}, [{**job(mine + 20), "job": {**job(mine + 20)["job"], "submitted_at": 9.0}}]
    )
    assert other[0]["id"] > later  # the id belonged to another job
    assert imported(api, header, [taken, free, higher]) == [
        {"id": one["id"], "new": False} for one in (first, second, third)
    ]


def test_ids_far_above_all_others_are_not_kept(api: Served, page: dict[str, Any]) -> None:
    (before,) = api.ids({"command": ["true"], "gpus": 0}, entry="held")
    template = page["records"][0]
    for queue in ("another", page["header"]["queue"]):
        far = {**template, "job": {**template["job"], "id": 2**53 - 1, "submitted_at": 77.0}}
        ((job),) = imported(api, {**page["header"], "queue": queue}, [far])
        assert (before < job["id"] < before + 10, job["new"]) == (True, True)
    home = {**template, "job": {**template["job"], "id": before + 40, "submitted_at": 78.0}}
    assert imported(api, page["header"], [home], above=0) == [{"id": before + 40, "new": True}]
    assert api.ids({"command": ["true"], "gpus": 0}, entry="held") == [before + 41]


def test_without_its_environment_an_imported_job_cannot_be_run_again(api: Served, page: dict[str, Any]) -> None:
    record = {name: value for name, value in page["records"][1].items() if name != "environment"}
    spec = {**record["job"]["spec"], "environment": "f" * 32}  # which no job here has
    record["job"] = {**record["job"], "spec": spec}
    (job,) = imported(api, page["header"], [record])
    status, answer = api.ask("POST", "/jobs/retry", {"ids": [str(job["id"])]})
    assert status == 409, answer
    api.client.rm(job["id"])
    (job,) = imported(api, page["header"], [page["records"][1]])
    assert api.ask("POST", "/jobs/retry", {"ids": [str(job["id"])]})[0] == 200
    api.until(job["id"], "failed")


def test_the_names_of_secrets_are_kept_and_a_job_without_their_values_does_not_run(api: Served) -> None:
    environment = {"PATH": os.environ["PATH"], "API_TOKEN": "hidden"}
    first, second = api.ids(*[{"shell": "test $API_TOKEN = hidden", "gpus": 0}] * 2, environment=environment)
    for number in (first, second):
        api.until(number, "succeeded")
    page = exported(api, f"ids={first}&environment=true")
    assert page["records"][0]["environment"]["API_TOKEN"] is None

    def round_trip() -> None:
        assert imported(api, page["header"], page["records"]) == [{"id": first, "new": True}]
        again = exported(api, f"ids={first}&environment=true")["records"][0]
        assert again["environment"] == page["records"][0]["environment"]
        assert api.ask("POST", "/jobs/retry", {"ids": [str(first)]})[0] == 200

    api.client.rm(first)
    round_trip()  # the other job has the values
    api.until(first, "succeeded")
    api.client.rm(first, second)
    round_trip()
    assert "API_TOKEN" in api.until(first, "failed")["message"]


def test_logs_are_added_to_imported_jobs_once_and_to_no_others(api: Served, page: dict[str, Any]) -> None:
    (mine,) = api.ids({"command": ["echo", "mine"], "gpus": 0})
    api.until(mine, "succeeded")
    (job,) = imported(api, page["header"], page["records"][:1])

    def send(data: bytes, offset: int, number: int = job["id"], attempt: int = 1) -> int:
        body = {"job": number, "attempt": attempt, "offset": offset, "data": base64.b64encode(data).decode()}
        return api.ask("POST", "/history/import/log", body)[0]

    for _ in range(2):
        assert (send(b"one\n", 0), send(b"two\n", 4)) == (200, 200)
    assert (api.home / "logs" / f"{job['id']}.1.log").read_bytes() == b"one\ntwo\n"
    assert (send(b"x", 0, mine), send(b"x", 0, attempt=2), send(b"x", 0, 10**9)) == (409, 409, 409)
    assert (api.home / "logs" / f"{mine}.1.log").read_bytes() == b"mine\n"


def test_wrong_lines_change_nothing(api: Served, page: dict[str, Any]) -> None:
    good, bad = page["records"][0], {"job": {"id": 1}}
    for header, records, key in (
        ({}, [good], "history.not_an_export"),
        ({**page["header"], "schema": 999}, [good], "history.newer_export"),
        ({**page["header"], "tarmac_export": 2}, [good], "history.newer_export"),
        (page["header"], [good, bad], "history.wrong_record"),
    ):
        lines = [{"line": number, "record": record} for number, record in enumerate(records, 2)]
        status, answer = api.ask("POST", "/history/import", {"header": header, "lines": lines})
        assert (status, answer["error"]["key"]) == (400, key)
    assert answer["error"]["message"].startswith("line 3 ")
    assert api.ask("GET", f"/jobs/{good['job']['id']}")[0] == 404
    assert imported(api, page["header"], [good], dry_run=True) == []
    assert api.ask("GET", f"/jobs/{good['job']['id']}")[0] == 404


def test_only_ended_jobs_are_exported(api: Served) -> None:
    (held,) = api.ids({"command": ["true"]}, entry="held")
    assert exported(api, f"ids={held}")["records"] == []
    assert api.ask("GET", "/history/export?state=held")[1]["error"]["key"] == "history.not_ended"
    page = exported(api, "limit=1")
    assert page["next"] == page["records"][0]["job"]["id"]
