import pytest

from tarmac.api.wording.refusals import infeasible, refusal
from tarmac.core.model.gpu import NamedGpu
from tarmac.core.model.ids import GpuUuid
from tarmac.core.policy.feasibility import ConstraintUnmet, HostTooSmall, Lack, PinnedGone, TooFewGpusOnNode
from tarmac.refusal import Refused, conflict, unavailable
from tarmac.shared.names import AT_WORK

G = 2**30
CLOSEST = "no node has enough, the closest has"
REST = "as keep_gpu_memory reserves the rest"
GONE = NamedGpu(uuid=GpuUuid("GPU-1a2b3c4d-5e6f"), index=3)


def lacking(condition: str, asked: int = 1, have: int = 0, **more: object) -> ConstraintUnmet:
    return ConstraintUnmet(condition=condition, asked=asked, have=have, of=4, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lack", "said"),
    [
        (TooFewGpusOnNode(asked=9, have=4), "requested 9 GPUs; this machine has 4"),
        (TooFewGpusOnNode(asked=1, have=0), "requested 1 GPU; this machine has none that Tarmac can see"),
        (PinnedGone(gpus=(GONE,)), "GPU 3 (GPU-1a2b3c4d…), which the job is pinned to, is gone"),
        (PinnedGone(gpus=(GONE, 5)), "GPUs 3 (GPU-1a2b3c4d…), 5, which the job is pinned to, are gone"),
        (lacking("exclude"), "requested 1 GPU, but all 4 are excluded"),
        (lacking("exclude", 3, 2), "requested 3 GPUs, but all but 2 of 4 are excluded"),
        (lacking("model", models=("h100", "h200")), "requested 1 GPU of model h100 or h200; this machine has none"),
        (lacking("model", 3, 2, models=("a100",)), "requested 3 GPUs of model a100; this machine has 2"),
        (
            lacking("model", 2, 1, models=("a100",), has_excluded=True),
            "requested 2 GPUs of model a100; this machine has 1 (excluded ones not counted)",
        ),
        (lacking("mig", 2), "requested 2 GPUs, but a job can use only one MIG instance"),
        (
            lacking("mig", 2, 1),
            "requested 2 GPUs, but a job can use only one MIG instance; this machine has 1 whole GPU",
        ),
        (
            lacking("size", asked_bytes=80 * G, most_bytes=24 * G),
            "requested 80.0G of memory on a GPU; the largest has 24.0G",
        ),
        (
            lacking("size", asked_bytes=24 * G + 1, most_bytes=24 * G),
            "requested 25769803777 bytes of memory on a GPU; the largest has 25769803776 bytes",
        ),
        (
            lacking("size", 2, 1, asked_bytes=40 * G, most_bytes=80 * G),
            "requested 2 GPUs with 40.0G of memory; this machine has 1",
        ),
        (
            lacking("kept", asked_bytes=20 * G, most_bytes=18 * G),
            f"requested 20.0G of a GPU; at most 18.0G ({18 * G} bytes) can be booked, {REST}",
        ),
        (
            lacking("kept", 2, 1, asked_bytes=20 * G, most_bytes=60 * G),
            "requested 2 GPUs with 20.0G to book; this machine has 1, as keep_gpu_memory reserves a part of each",
        ),
        (HostTooSmall(what="cpus", asked=9, total=8), "requested 9 CPU cores; this machine has 8"),
        (
            HostTooSmall(what="memory", asked=65 * G, total=64 * G),
            "requested 65.0G of host memory; this machine has 64.0G",
        ),
    ],
)
def test_an_infeasible_request_names_the_cause_with_its_numbers(lack: Lack, said: str) -> None:
    words = infeasible(lack)
    assert words.message == said
    assert words.hint


@pytest.mark.parametrize(
    ("problem", "hint"),
    [
        (unavailable("store.cannot_write", error="disk full"), "free disk space"),
        (unavailable("server.failed", error="a bug"), "run `tarmac log controller` to see where"),
    ],
)
def test_a_controller_that_accepts_nothing_gives_the_hint_of_its_problem(problem: Refused, hint: str) -> None:
    rendered = refusal(unavailable("server.cannot_write", problem=problem))
    assert rendered.message == f"requests cannot be accepted now: {refusal(problem).message}"
    assert hint in str(rendered.hint)
    assert ("disk space" in str(rendered.hint)) == (problem.key == "store.cannot_write")


@pytest.mark.parametrize("state", ["ended", *AT_WORK])
def test_a_job_that_does_not_wait_says_what_it_does(state: str) -> None:
    message = refusal(conflict("job.not_waiting", job=3, state=state)).message
    assert message == f"job 3 is not waiting: it {'has ended' if state == 'ended' else f'is {state}'}"


@pytest.mark.parametrize(
    ("lack", "said"),
    [
        (TooFewGpusOnNode(asked=9, have=4), "requested 9 GPUs; no node has enough, the closest has 4"),
        (TooFewGpusOnNode(asked=1, have=0), "requested 1 GPU; no node has any that Tarmac can see"),
        (
            lacking("model", models=("h100",)),
            "requested 1 GPU of model h100; no node has enough, the closest has none",
        ),
        (
            lacking("mig", 2, 1),
            f"requested 2 GPUs, but a job can use only one MIG instance; {CLOSEST} 1 whole GPU",
        ),
        (
            lacking("size", asked_bytes=80 * G, most_bytes=24 * G),
            "requested 80.0G of memory on a GPU; the largest of the closest node has 24.0G",
        ),
        (
            lacking("size", 2, 1, asked_bytes=40 * G, most_bytes=80 * G),
            "requested 2 GPUs with 40.0G of memory; no node has enough, the closest has 1",
        ),
        (
            lacking("kept", asked_bytes=20 * G, most_bytes=18 * G),
            f"requested 20.0G of a GPU; at most 18.0G ({18 * G} bytes) can be booked on the closest node, {REST}",
        ),
        (
            lacking("kept", 2, 1, asked_bytes=20 * G, most_bytes=60 * G),
            f"requested 2 GPUs with 20.0G to book; {CLOSEST} 1, as keep_gpu_memory reserves a part of each",
        ),
        (
            HostTooSmall(what="cpus", asked=9, total=8),
            "requested 9 CPU cores; no node has enough, the closest has 8",
        ),
        (
            HostTooSmall(what="memory", asked=65 * G, total=64 * G),
            "requested 65.0G of host memory; no node has enough, the closest has 64.0G",
        ),
    ],
)
def test_with_several_nodes_the_message_does_not_speak_of_this_machine(lack: Lack, said: str) -> None:
    words = infeasible(lack, nodes=2)
    assert words.message == said
    assert "this machine" not in f"{words}"


def test_gpus_that_are_not_known_yet_are_those_of_this_machine_or_of_all_nodes() -> None:
    said = [refusal(unavailable("gpu.not_known_yet", nodes=nodes)).message for nodes in (1, 2)]
    assert said == ["the GPUs of this machine are not known yet", "no node has reported its GPUs yet"]


@pytest.mark.parametrize(("key", "said"), [("unreachable", "is unreachable"), ("silent", "does not answer")])
def test_an_agent_is_named_by_its_node(key: str, said: str) -> None:
    messages = [refusal(unavailable(f"agent.{key}", node=node)).message for node in (None, "big")]
    assert messages == [f"the agent {said}", f"the agent of node big {said}"]
