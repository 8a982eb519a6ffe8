"""Which paths of a submit are refused, by what the nodes say about them."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import pytest

from tarmac.controller.submit.paths.output_files import OutputFiles
from tarmac.controller.submit.paths.paths import check_submitted_paths
from tarmac.core.model.ids import NodeName
from tarmac.core.model.job import JobSpec
from tarmac.core.model.snapshot import Snapshot
from tarmac.core.model.status import MissingPath
from tarmac.core.state import State
from tarmac.nodes import facts
from tarmac.refusal import Refused, unavailable
from tarmac.shared import protocol
from tests.core.support.builders import a_node, a_spec, a_state

Answer = Callable[[dict[str, Any]], dict[str, Any]]


class AnsweringFleet:
    """Nodes that answer questions about paths; those without an answer are not connected."""

    def __init__(self, **answers: Answer) -> None:
        self._answers = answers
        self.questions: list[tuple[str, dict[str, Any]]] = []

    def is_connected(self, node: str) -> bool:
        return node in self._answers

    def silent_s(self, node: str) -> float | None:
        return None

    def boot_id(self, node: str) -> str:
        return f"boot of {node}"

    async def ask(self, node: str, frame: dict[str, Any]) -> dict[str, Any]:
        self.questions.append((node, frame))
        return self._answers[node](frame)


def having(*directories: str, outputs: dict[str, str] | None = None) -> Answer:
    """A node with these directories, where every output is good unless said otherwise."""
    verdicts = outputs or {}
    return lambda frame: {
        "directories": [path in directories for path in frame["directories"]],
        "outputs": [verdicts.get(path, "good") for path in frame["outputs"]],
    }


def silent(_: dict[str, Any]) -> dict[str, Any]:
    raise unavailable("agent.unreachable")


def two_nodes() -> State:
    return a_state(a_node(name="desk", gpus=1), a_node(name="big", gpus=4))


def refusal(fleet: AnsweringFleet, *specs: JobSpec, state: State | None = None) -> str | None:
    try:
        asyncio.run(check_submitted_paths(specs, state or two_nodes(), fleet, OutputFiles()))  # type: ignore[arg-type]
    except Refused as refused:
        return refused.key
    return None


def test_a_directory_must_exist_on_one_node_that_could_take_the_job() -> None:
    fleet = AnsweringFleet(desk=having(), big=having("/data"))
    assert refusal(fleet, a_spec(cwd="/data")) is None
    assert refusal(fleet, a_spec(cwd="/none")) == "submit.cwd_not_a_directory"


def test_a_node_that_could_never_take_the_job_does_not_count() -> None:
    fleet = AnsweringFleet(desk=having("/data"), big=having())
    assert refusal(fleet, a_spec(cwd="/data", gpus=4)) == "submit.cwd_not_a_directory"
    assert [node for node, _ in fleet.questions] == ["big"]


def test_paths_are_not_checked_while_no_agent_answers() -> None:
    assert refusal(AnsweringFleet(), a_spec(cwd="/none")) is None
    assert refusal(AnsweringFleet(desk=silent), a_spec(cwd="/none")) is None
    assert refusal(AnsweringFleet(desk=silent, big=having()), a_spec(cwd="/none")) == "submit.cwd_not_a_directory"


@pytest.mark.parametrize(
    ("verdict", "key"),
    [
        ("no_directory", "submit.log_no_directory"),
        ("is_directory", "submit.log_is_a_directory"),
        ("not_writable", "submit.log_not_writable"),
        ("has_content", "submit.log_exists"),
        ("reserved", "submit.log_reserved"),
    ],
)
def test_a_bad_output_file_is_refused(verdict: str, key: str) -> None:
    fleet = AnsweringFleet(desk=having("/", outputs={"/x/log": verdict}))
    assert refusal(fleet, a_spec(cwd="/", stdout="/x/log")) == key
    assert refusal(fleet, a_spec(cwd="/", stderr="/x/log")) == key


def test_an_output_file_with_content_may_be_appended_to() -> None:
    fleet = AnsweringFleet(desk=having("/", outputs={"/x/log": "has_content"}))
    assert refusal(fleet, a_spec(cwd="/", stdout="/x/log", append=True)) is None


def test_an_output_file_must_be_creatable_on_one_node_and_empty_on_all() -> None:
    lacking, full = (having("/", outputs={"/x/log": verdict}) for verdict in ("no_directory", "has_content"))
    assert refusal(AnsweringFleet(desk=lacking, big=having("/")), a_spec(cwd="/", stdout="/x/log")) is None
    assert refusal(AnsweringFleet(desk=full, big=having("/")), a_spec(cwd="/", stdout="/x/log")) == "submit.log_exists"


def test_an_array_asks_once() -> None:
    fleet = AnsweringFleet(desk=having("/"))
    assert refusal(fleet, *[a_spec(cwd="/")] * 1000) is None
    ((_, question),) = fleet.questions
    assert (question["directories"], question["outputs"]) == (["/"], [])


def test_many_paths_are_asked_in_several_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "PATHS_PER_QUESTION", 2)
    fleet = AnsweringFleet(desk=having("/", outputs={"/x/4": "has_content"}))
    specs = [a_spec(cwd="/", stdout=f"/x/{number}") for number in range(5)]
    assert refusal(fleet, *specs) == "submit.log_exists"
    assert [question["outputs"] for _, question in fleet.questions] == [["/x/0", "/x/1"], ["/x/2", "/x/3"], ["/x/4"]]


def test_long_paths_are_asked_in_frames_within_the_limit() -> None:
    fleet = AnsweringFleet(desk=having())
    long = ["/" + 500 * "\N{SLOTH}" + 2000 * "a" + str(number) for number in range(3000)]
    specs = [a_spec(cwd=path, stdout=f"{path}/log") for path in long]
    assert refusal(fleet, *specs) == "submit.cwd_not_a_directory"
    assert all(protocol.encode(question) for _, question in fleet.questions), "a frame over the limit is an error"
    for field, asked in (("directories", long), ("outputs", [f"{path}/log" for path in long])):
        assert [path for _, question in fleet.questions for path in question[field]] == asked


def avoided(fleet: AnsweringFleet, *specs: JobSpec) -> list[tuple[MissingPath, ...]]:
    """What each job would miss on nodes, which it then avoids."""
    missing = asyncio.run(check_submitted_paths(specs, two_nodes(), fleet, OutputFiles()))  # type: ignore[arg-type]
    found = missing.avoided_by_all(specs)
    assert all(spec.request.nodes_lacking == tuple(one.node for one in spec.missing) for spec in found)
    return [spec.missing for spec in found]


def lacking(*paths: str) -> Answer:
    """A node with everything but these paths."""
    return lambda frame: {
        "directories": [path not in paths for path in frame["directories"]],
        "outputs": ["no_directory" if os.path.dirname(path) in paths else "good" for path in frame["outputs"]],
        "present": [path not in paths for path in frame["present"]],
        "programs": [path not in paths for path in frame["programs"]],
    }


@pytest.mark.parametrize(
    ("path", "spec"),
    [
        ("/data", {"cwd": "/data"}),
        ("/logs", {"stdout": "/logs/x"}),
        ("/venv", {"venv": "/venv"}),
        ("/opt/train", {"command": ("/opt/train", "--fast")}),
        ("/home/ann/train", {"command": ("./train",)}),
    ],
)
def test_a_node_that_lacks_a_path_is_avoided(path: str, spec: dict[str, Any]) -> None:
    fleet = AnsweringFleet(desk=lacking(path), big=lacking())
    assert avoided(fleet, a_spec(**spec)) == [(MissingPath(NodeName("desk"), path),)]
    assert avoided(AnsweringFleet(desk=lacking(), big=lacking()), a_spec(**spec)) == [()]


def test_a_program_that_no_node_has_rules_no_node_out() -> None:
    """An earlier job may make it."""
    fleet = AnsweringFleet(desk=lacking("/opt/train"), big=lacking("/opt/train"))
    assert avoided(fleet, a_spec(command=("/opt/train",))) == [()]


def test_the_directory_is_named_before_what_is_in_it() -> None:
    fleet = AnsweringFleet(desk=lacking("/data", "/data/train"), big=lacking())
    assert avoided(fleet, a_spec(cwd="/data", command=("./train",))) == [(MissingPath(NodeName("desk"), "/data"),)]


def test_each_job_of_a_submit_avoids_the_nodes_that_lack_its_own_paths() -> None:
    fleet = AnsweringFleet(desk=lacking("/data"), big=lacking("/other"))
    specs = [a_spec(cwd="/data"), a_spec(cwd="/other"), a_spec(cwd="/")]
    found = avoided(fleet, *specs)
    assert found == [(MissingPath(NodeName("desk"), "/data"),), (MissingPath(NodeName("big"), "/other"),), ()]


def test_a_node_without_an_answer_is_not_avoided() -> None:
    assert avoided(AnsweringFleet(desk=silent, big=lacking()), a_spec(cwd="/data")) == [()]


def test_a_job_that_avoided_a_node_is_asked_about_there_again() -> None:
    spec = a_spec(cwd="/data").with_missing([MissingPath(NodeName("desk"), "/data")])
    assert avoided(AnsweringFleet(desk=lacking(), big=lacking()), spec) == [()]


def test_a_job_with_a_snapshot_needs_its_links_and_not_its_directory() -> None:
    snapshot = Snapshot(tree="0" * 64, root="/home/ann", directory="", links=("data",))
    spec = a_spec(command=("./train",), snapshot=snapshot)
    fleet = AnsweringFleet(desk=lacking("/home/ann", "/home/ann/data"), big=lacking("/home/ann"))
    assert avoided(fleet, spec) == [(MissingPath(NodeName("desk"), "/home/ann/data"),)]
    assert all(not frame["directories"] and not frame["programs"] for _, frame in fleet.questions)


def test_jobs_of_an_array_still_share_their_spec() -> None:
    spec = a_spec(cwd="/data")
    fleet = AnsweringFleet(desk=lacking("/data"), big=lacking())
    missing = asyncio.run(check_submitted_paths([spec], two_nodes(), fleet, OutputFiles()))  # type: ignore[arg-type]
    one, two = missing.avoided_by_all((spec, spec))
    assert one is two
    assert one.request.nodes_lacking == ("desk",)
