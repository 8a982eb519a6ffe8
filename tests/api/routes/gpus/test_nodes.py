"""Nodes over HTTP: list, show, drain and resume."""

from collections.abc import Iterator

import pytest

from tests.api.served import Served


@pytest.fixture(autouse=True)
def _as_before(api: Served) -> Iterator[None]:
    yield
    assert api.ask("POST", f"/nodes/{name(api)}/resume", {})[0] == 200


def name(api: Served) -> str:
    return str(api.ask("GET", "/nodes")[1]["nodes"][0]["name"])


def test_the_home_node_is_listed_and_shown(api: Served) -> None:
    status, answer = api.ask("GET", "/nodes")
    assert status == 200
    (node,) = answer["nodes"]
    assert (node["kind"], node["address"], node["state"], node["reason"]) == ("local", None, "reachable", None)
    assert (node["watch_only"], node["drained"], node["drained_by"], node["connected"]) == (False, False, None, True)
    assert node["agent_pid"] == api.ask("GET", "/status")[1]["agent_pid"]
    assert api.ask("GET", f"/nodes/{node['name']}")[1]["boot_id"] == node["boot_id"]


def test_a_drained_node_gets_nothing_until_it_is_resumed(api: Served) -> None:
    home = name(api)
    status, drained = api.ask("POST", f"/nodes/{home}/drain", {"reason": "new fans"})
    assert (status, drained["state"], drained["reason"], drained["drain_reason"]) == (
        200, "drained", "new fans", "new fans",
    )  # fmt: skip
    job, without_gpus = api.ids({"command": ["true"]}, {"command": ["true"], "gpus": 0})
    seen = api.ask("GET", f"/jobs/{job}")[1]
    assert seen["state"] == "queued"
    said = f"node {home} is drained: new fans (by {drained['drained_by']})"
    assert said in seen["why"]
    why = api.ask("GET", f"/jobs/{without_gpus}/why")[1]
    (reason,) = why["reasons"]
    assert (reason["kind"], reason["node"], reason["reason"], reason["text"]) == (
        "node_drained", home, "new fans", said,
    )  # fmt: skip
    assert api.ask("GET", f"/nodes/{home}")[1]["queued"] == 2
    assert api.ask("GET", "/status")[1]["nodes"][0]["drained"]
    assert api.ask("POST", f"/nodes/{home}/resume", {})[1]["state"] == "reachable"
    for number in (job, without_gpus):
        assert api.until(number, "succeeded")["node"] == home


def test_an_unknown_node_is_named_with_the_nearest(api: Served) -> None:
    home = name(api)
    for method, path, body in (
        ("GET", "", None), ("POST", "/drain", {}), ("POST", "/resume", {}),
    ):  # fmt: skip
        status, answer = api.ask(method, f"/nodes/{home}x{path}", body)
        assert (status, answer["error"]["key"]) == (404, "submit.node_unknown")
        assert f"did you mean {home}" in answer["error"]["message"]


def test_jobs_are_selected_by_their_node(api: Served) -> None:
    (job,) = api.ids({"command": ["true"], "only_nodes": [name(api)]})
    seen = api.until(job, "succeeded")
    assert seen["only_nodes"] == [name(api)]
    found = api.ask("GET", f"/jobs?node={name(api)}&order=desc")[1]["jobs"]
    assert job in [one["id"] for one in found]
    assert api.ask("GET", "/jobs?node=elsewhere")[1]["jobs"] == []


def test_nodes_of_a_job_are_checked_at_submit_and_edit(api: Served) -> None:
    body = {"jobs": [{"command": ["true"], "prefer_nodes": ["elsewhere"]}], "cwd": "/"}
    status, answer = api.ask("POST", "/jobs", body)
    assert (status, answer["error"]["key"]) == (400, "submit.node_unknown")
    body = {"jobs": [{"command": ["true"], "exclude_nodes": [name(api)]}], "cwd": "/"}
    assert api.ask("POST", "/jobs", body)[1]["error"]["key"] == "infeasible.no_node_left"
    body = {"jobs": [{"command": ["true"]}], "cwd": "/", "entry": "held"}
    (held,) = api.ask("POST", "/jobs", body)[1]["ids"]
    status, answer = api.ask("PATCH", f"/jobs/{held}", {"only_nodes": ["elsewhere"]})
    assert (status, answer["error"]["key"]) == (400, "submit.node_unknown")
    assert api.ask("PATCH", f"/jobs/{held}", {"only_nodes": [name(api)]})[1]["only_nodes"] == [name(api)]
    assert api.ask("PATCH", f"/jobs/{held}", {"only_nodes": None})[1]["only_nodes"] == []
