import pytest
from msgspec import inspect

from tarmac.api.schemas.gpus.gpus import GpuSelection, IgnoreRequest, SlotsRequest
from tarmac.api.schemas.job.jobs import AdoptRequest
from tarmac.api.schemas.job.selection import KillRequest
from tarmac.api.wording import validation_messages
from tarmac.api.wording.validation_messages import allowed, wrong_field, wrong_parameter
from tarmac.controller.submit.request import Gpu, SubmitRequest
from tests.api.served import Served

JOB = {"command": ["true"]}


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/gpus/slots", {"gpus": ["0"], "slots": 1_000_000}, "slots must be a whole number from 1 to 64"),
        ("/gpus/slots", {"gpus": ["0"], "slots": "two"}, "slots must be a whole number from 1 to 64"),
        ("/gpus/slots", {"gpus": ["0"]}, "slots is missing"),
        ("/gpus/slots", {"gpus": [], "slots": 1}, "gpus must be a list of 1 entry or more"),
        ("/gpus/slots", {"gpus": [0], "slots": 1}, "each of gpus must be a string"),
        ("/gpus/ignore", {"pid": 0}, "pid must be a whole number from 1 to 2147483647"),
        ("/gpus/ignore", {"pid": 2, "forget": "maybe"}, "forget must be true or false"),
        (
            "/jobs/kill",
            {"ids": ["1"], "grace_s": 1e99},
            "grace_s (--grace) must be a duration from 0s to 1d, in seconds",
        ),
        ("/adopt", {"pid": 1}, "process 1 cannot be adopted: it is the init process"),
        ("/adopt", [], "the body must be an object with the fields listed in docs/api.md"),
        ("/adopt", {"pid": 7, "cpus": 1}, "cpus is not a field of this request"),
    ],
)
def test_a_wrong_field_is_named_with_all_that_is_allowed(api: Served, path: str, body: object, says: str) -> None:
    status, answer = api.ask("POST", path, body)[:2]
    assert (status, answer["error"]["message"]) == (400, says)


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ({"gpus": -1}, "gpus (--gpus) must be a whole number from 0 to 100000"),
        ({"gpu_share": 0}, "gpu_share (--gpu-share) must be a number above 0, at most 1"),
        ({"tags": "x"}, "tags (--tag) must be a list of at most 100 entries"),
        ({"name": "x" * 5000}, "name (--name) must be a string of at most 4096 characters"),
        ({"time_limit_s": 0}, "time_limit_s (--time) must be a duration above 0s, at most 366d, in seconds"),
        ({"cwd": ""}, "cwd must be a string of 1 to 4096 characters"),
        ({"colour": 1}, "colour is not a field of this request"),
    ],
)
def test_a_wrong_field_of_a_job_is_named_with_its_option(api: Served, job: dict[str, object], says: str) -> None:
    for jobs, which in (([{**JOB, **job}], ""), ([JOB, {**JOB, **job}], "job 2 of the submit: ")):
        answer = api.ask("POST", "/jobs", {"jobs": jobs, "cwd": "/"})
        assert (answer[0], answer[1]["error"]["message"]) == (400, which + says)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/jobs?limit=0", "limit must be a whole number from 1 to 10000"),
        ("/jobs?order=up", "order must be asc or desc"),
        ("/jobs/wait?ids=1&timeout_s=-1", "timeout_s must be a duration from 0s to 5m, in seconds"),
        ("/jobs/1/log?lines=-1", "lines (-n) must be a whole number from 0 to 1000000000000"),
        ("/jobs/1/log?stream=x", "stream must be stderr or stdout"),
        ("/gpus/0/samples?since_s=x", "since_s must be a duration from 0s to 3660d, in seconds"),
    ],
)
def test_a_wrong_query_parameter_is_named_with_all_that_is_allowed(api: Served, address: str, says: str) -> None:
    answer = api.ask("GET", address)
    assert (answer[0], answer[1]["error"]["message"]) == (400, says)


WRONG: list[object] = [-1, -(10**30), 10**30, 1.5, "", "x" * 5000, [], [-1], [""], ["x" * 5000] * 2000, {}, True]


@pytest.mark.parametrize(
    ("path", "model", "right"),
    [
        ("/gpus/slots", SlotsRequest, {"gpus": ["99"], "slots": 1}),
        ("/gpus/drain", GpuSelection, {"gpus": ["99"]}),
        ("/gpus/ignore", IgnoreRequest, {"pid": 99999999}),
        ("/adopt", AdoptRequest, {"pid": 99999999}),
        ("/jobs/kill", KillRequest, {"ids": ["99999999"]}),
        ("/jobs", SubmitRequest, {"jobs": [{}], "cwd": "/"}),
    ],
)
def test_the_messages_of_the_decoder_are_never_shown(
    api: Served, path: str, model: type, right: dict[str, object]
) -> None:
    for field in model.__struct_fields__:  # type: ignore[attr-defined]
        for value in WRONG:
            status, answer = api.ask("POST", path, {**right, field: value})[:2]
            said = str(answer)
            assert status in {200, 400, 403, 404, 409}, (field, value, said)
            assert "Expected" not in said, (field, value, said)
            assert "`int`" not in said, (field, value, said)


def test_a_field_of_two_types_names_both() -> None:
    words = "a whole number of at least 0 or a string of 1 to 200 characters"
    assert allowed(inspect.type_info(Gpu)) == words


def test_a_schema_is_analysed_once_however_often_it_is_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    validation_messages._shape.cache_clear()
    analysed: list[object] = []
    real = inspect.type_info
    monkeypatch.setattr(inspect, "type_info", lambda kind: analysed.append(kind) or real(kind))
    said = {wrong_field(SubmitRequest, "$.jobs[0].gpus", "Expected `int`") for _ in range(3)}
    said |= {wrong_parameter("lines", int | None) for _ in range(3)}
    assert (len(said), analysed) == (2, [SubmitRequest, int | None])
