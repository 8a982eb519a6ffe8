"""Jobs that have not ended do not share an output file, by what the nodes say about the paths."""

import pytest

from tarmac.controller.submit.paths.output_files import OutputFiles, refuse_shared_outputs
from tarmac.core.model.job import JobSpec
from tarmac.core.state import State
from tarmac.refusal import Refused
from tests.core.support.builders import a_job, a_node, a_spec, a_state

FILE = "1.2/a"


def a_state_with(**outputs: str | bool) -> State:
    job = a_job(7)
    job.spec = a_spec(**outputs)
    return a_state(a_node(), jobs=(job,))


def files(**identities: list[str]) -> OutputFiles:
    """What machine m said about /a, /b and so on."""
    known = OutputFiles()
    known.learn("m", [f"/{name}" for name in identities], list(identities.values()))
    known.learned_all("m")
    return known


def refusal(state: State, known: OutputFiles, *specs: JobSpec) -> str | None:
    try:
        refuse_shared_outputs(specs, state, known)
    except Refused as refused:
        return refused.key
    return None


@pytest.mark.parametrize("known", [OutputFiles(), files(a=[FILE])], ids=["not asked", "asked"])
def test_an_equal_path_is_the_same_file(known: OutputFiles) -> None:
    state = a_state_with(stdout="/a")
    assert refusal(state, known, a_spec(stdout="/a")) == "submit.log_taken"
    assert refusal(state, known, a_spec(stderr="/a")) == "submit.log_taken"
    assert refusal(state, known, a_spec(stdout="/a", append=True)) == "submit.log_taken"
    assert refusal(state, known, a_spec(stdout="/c")) is None


def test_a_common_identity_is_the_same_file() -> None:
    known = files(a=[FILE], b=["9.9/b", "9.9"], c=[FILE], d=["1.1/d", "9.9"])
    assert refusal(a_state_with(stdout="/a"), known, a_spec(stdout="/c")) == "submit.log_taken"
    assert refusal(a_state_with(stderr="/b"), known, a_spec(stdout="/d")) == "submit.log_taken"
    assert refusal(a_state_with(stdout="/a"), known, a_spec(stdout="/b")) is None


def test_equal_identities_of_two_machines_are_two_files() -> None:
    known = files(a=[FILE])
    known.learn("n", ["/b"], [[FILE]])
    assert refusal(a_state_with(stdout="/a"), known, a_spec(stdout="/b")) is None


def test_jobs_that_all_append_share_a_file() -> None:
    state, known = a_state_with(stdout="/a", append=True), files(a=[FILE], b=[FILE])
    assert refusal(state, known, a_spec(stdout="/b", append=True)) is None
    assert refusal(state, known, a_spec(stdout="/b")) == "submit.log_taken"


def test_the_jobs_of_one_submit_do_not_share_a_file() -> None:
    known = files(a=[FILE], b=[FILE])
    assert refusal(State(), known, a_spec(stdout="/a"), a_spec(stdout="/b")) == "submit.log_repeated"
    assert refusal(State(), known, a_spec(stdout="/a"), a_spec(stdout="/a", append=True)) == "submit.log_repeated"
    assert refusal(State(), known, *[a_spec(stdout="/a", append=True) for _ in range(3)]) is None


def test_stdout_and_stderr_of_a_job_are_two_files() -> None:
    known = files(a=[FILE], b=[FILE])
    assert refusal(State(), known, a_spec(stdout="/a", stderr="/b", append=True)) == "submit.same_output"
    assert refusal(State(), known, a_spec(stdout="/a", stderr="/c")) is None


def test_devices_are_shared() -> None:
    known = files(tty=[])
    for path in ("/tty", "/dev/null"):
        state = a_state_with(stdout=path)
        assert refusal(state, known, a_spec(stdout=path, stderr=path), a_spec(stdout=path)) is None


def test_paths_of_live_jobs_are_asked_once_per_machine() -> None:
    state, known = a_state_with(stdout="/a"), OutputFiles()
    assert known.unknown_on("m", state, []) == ["/a"]
    known.learned_all("m")
    assert known.unknown_on("m", state, []) == []
    assert known.unknown_on("n", state, []) == ["/a"]


def test_paths_that_nobody_was_asked_about_are_asked_later() -> None:
    state, known = a_state_with(stdout="/a"), files()
    known.note_unanswered(["/a", "/gone"])
    assert known.unknown_on("m", state, []) == ["/a"]
    known.learn("m", ["/a"], [[FILE]])
    assert known.unknown_on("m", state, []) == []


def test_a_file_with_several_names_is_compared_with_all_files_as_they_are_now() -> None:
    known = files(b=["1.1/b", "9.9"])
    assert known.unknown_on("m", a_state_with(stdout="/a"), ["/b"]) == ["/a"]


def test_paths_of_ended_jobs_are_forgotten() -> None:
    known = files(a=[FILE])
    known.learn("m", [f"/{number}" for number in range(3000)], [[f"1.1/{number}"] for number in range(3000)])
    known.trim(a_state_with(stdout="/a"))
    assert known.names("/5") == {"/5"}
    known.learn("m", ["/b"], [[FILE]])
    assert known.names("/b") == {"/a", "/b"}
