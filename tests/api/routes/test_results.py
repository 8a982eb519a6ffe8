"""Results: metrics of jobs from their logs and files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tarmac.api.routes import results
from tarmac.api.schemas.results import MetricRequest, ResultsRequest
from tarmac.controller.requests.permissions import Caller
from tarmac.refusal import Refused
from tests.api.routes.test_snapshots import upload
from tests.api.served import Served
from tests.core.support.builders import a_job
from tests.home import Home

ACC: dict[str, Any] = {"name": "acc", "pattern": r"acc=([\d.]+)", "group": 1}


def a_sweep(api: Served, *lines: str, cwd: Path | None = None, wait: bool = True) -> list[int]:
    folder = {} if cwd is None else {"cwd": str(cwd)}
    jobs = [{"shell": line, "gpus": 0, "params": {"x": str(at)}, **folder} for at, line in enumerate(lines)]
    ids = api.ids(*jobs, group={"kind": "sweep"})
    if wait:
        assert api.ask("GET", f"/jobs/wait?ids={ids[0]}-{ids[-1]}")[1]["pending"] == []
    return ids


def test_the_last_match_of_each_job_is_a_number(api: Served) -> None:
    ids = a_sweep(api, "echo acc=0.5; echo acc=0.75 loss=nan", "echo nothing", "echo acc=1 loss=2 >&2")
    loss = {"name": "loss", "pattern": r"loss=(?P<v>\S+)", "group": "v"}
    status, answer = api.ask("POST", "/results", {"group": str(ids[0]), "metrics": [ACC, loss]})
    assert status == 200
    assert answer["metrics"] == ["acc", "loss"]
    assert [job["metrics"] for job in answer["jobs"]] == [
        {"acc": 0.75, "loss": "nan"},
        {"acc": None, "loss": None},
        {"acc": 1.0, "loss": 2.0},
    ]
    assert [(job["id"], job["params"], job["state"]) for job in answer["jobs"]] == [
        (job, {"x": str(at)}, "succeeded") for at, job in enumerate(ids)
    ]
    assert (answer["group"]["id"], answer["unread"]) == (ids[0], [])


def test_a_running_job_has_its_newest_value_and_a_waiting_one_none(api: Served) -> None:
    (job,) = a_sweep(api, "echo acc=0.1; sleep 60", wait=False)
    (waits,) = api.ids({"shell": "echo acc=1", "gpus": 0}, entry="held")
    api.until(job, "running")
    body = {"ids": [str(job), str(waits)], "metrics": [ACC]}
    while (answer := api.ask("POST", "/results", body)[1])["jobs"][0]["metrics"]["acc"] is None:
        pass
    assert [found["metrics"]["acc"] for found in answer["jobs"]] == [0.1, None]
    api.ask("POST", "/jobs/kill", {"ids": [str(job), str(waits)]})


def test_values_of_a_file_that_each_job_wrote(api: Served, tmp_path: Path) -> None:
    ids = a_sweep(api, """echo '{"val": {"acc": 0.5}}' > m.json""", cwd=tmp_path)
    _, answer = api.ask("POST", "/results", {"group": str(ids[0]), "json": "m.json"})
    assert (answer["metrics"], answer["jobs"][0]["metrics"]) == (["val.acc"], {"val.acc": 0.5})
    _, answer = api.ask("POST", "/results", {"group": str(ids[0]), "json": "m.json", "keys": ["val.loss"]})
    assert answer["jobs"][0]["metrics"] == {"val.loss": None}


def test_the_file_of_a_job_with_a_snapshot_is_in_its_checkout(api: Served, tmp_path: Path) -> None:
    tree = upload(api, code=b"x")
    (tmp_path / "m.json").write_text('{"acc": 0}')
    job = {"shell": """echo '{"acc": 1}' > m.json""", "gpus": 0, "cwd": str(tmp_path), "snapshot": 0}
    (number,) = api.ids(job, snapshots=[{"tree": tree, "root": str(tmp_path)}])
    api.until(number, "succeeded")
    _, answer = api.ask("POST", "/results", {"ids": [str(number)], "json": "m.json"})
    assert answer["jobs"][0]["metrics"] == {"acc": 1}


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"json": "/etc/x.json"}, "is not inside the directory of a job"),
        ({"json": "a/../../x.json"}, "is not inside the directory of a job"),
        ({}, "no metric is given"),
        ({"metrics": [{"name": "a", "pattern": "("}]}, "is not a regular expression"),
        ({"metrics": [{"name": "a", "pattern": "x", "group": 1}]}, "has no group 1"),
        ({"metrics": [{"name": "a", "pattern": "(?P<b>x)", "group": "c"}]}, "has no group c"),
    ],
)
def test_a_wrong_metric_is_refused(api: Served, asked: dict[str, Any], says: str) -> None:
    status, answer = api.ask("POST", "/results", {"ids": ["all"], **asked})
    assert (status, says in answer["error"]["message"]) == (400, True)


def test_the_results_of_another_users_job_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The node reads the files with its own rights."""
    monkeypatch.setattr(results, "selected", lambda *_: [1])
    controller = SimpleNamespace(jobs=lambda numbers: [a_job(number) for number in numbers])
    context: Any = SimpleNamespace(controller=controller, caller=Caller(name="bob", uid=1, is_admin=False))
    with pytest.raises(Refused, match=r"permission\."):
        asyncio.run(results.results(context, ResultsRequest(ids=["1"], metrics=[MetricRequest(**ACC)])))


def test_a_pattern_names_its_metrics(api: Served) -> None:
    ids = a_sweep(api, "echo acc=0.5 val_loss=2", "echo acc=0.75 val_loss=1")
    pattern = r"(?P<acc>0\.\d+) val_loss=(?P<val_loss>\d)"
    status, answer = api.ask("POST", "/results", {"group": str(ids[0]), "metrics": [{"pattern": pattern}]})
    assert status == 200, answer
    assert (answer["metrics"], answer["smaller_is_better"]) == (["acc", "val_loss"], ["val_loss"])
    assert [job["metrics"]["acc"] for job in answer["jobs"]] == [0.5, 0.75]
    for metrics, message in [
        ([{"pattern": "acc="}], "does not say which part is the value"),
        ([{"pattern": "a=(.)"}, {"pattern": "a=(..)"}], "two metrics are named"),
        ([{"pattern": "a=("}], "is not a regular expression"),
    ]:
        status, answer = api.ask("POST", "/results", {"group": str(ids[0]), "metrics": metrics})
        assert (status, message in answer["error"]["message"]) == (400, True), answer


def test_csv_is_what_the_command_line_prints(api: Served, shared_home: Home) -> None:
    ids = a_sweep(api, "echo acc=0.5", "echo acc=0.75", "true")
    asked = {"group": str(ids[0]), "metrics": [{"pattern": r"acc=([\d.]+)"}]}
    status, text = api.ask("POST", "/results/csv", asked)
    rows = [f"{ids[1]},succeeded,1,0.75", f"{ids[0]},succeeded,0,0.5", f"{ids[2]},succeeded,2,"]
    assert (status, text.decode().splitlines()) == (200, ["id,state,x,acc", *rows])
    assert text.decode() == shared_home.tarmac("results", str(ids[0]), "-m", r"acc=([\d.]+)", "--csv").stdout
    reverse = api.ask("POST", "/results/csv", {**asked, "sort": "acc", "smaller_first": True})[1]
    assert reverse.decode().splitlines()[1].startswith(f"{ids[0]},")
