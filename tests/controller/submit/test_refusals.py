import pytest

from tarmac.controller.submit.refusals import refusal_message
from tarmac.core.model.gpu import NamedGpu
from tarmac.core.model.ids import GpuUuid
from tarmac.core.policy.feasibility import ConstraintUnmet, HostTooSmall, Lack, PinnedGone, TooFewGpusOnNode

G = 2**30
KEPT = "keep_gpu_memory holds back the rest"
GONE = NamedGpu(uuid=GpuUuid("GPU-1a2b3c4d-5e6f"), index=3)


def lacking(condition: str, asked: int = 1, have: int = 0, **more: object) -> ConstraintUnmet:
    return ConstraintUnmet(condition=condition, asked=asked, have=have, of=4, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lack", "said"),
    [
        (TooFewGpusOnNode(asked=9, have=4), "9 GPUs asked, this machine has 4"),
        (TooFewGpusOnNode(asked=1, have=0), "1 GPU asked, this machine has none that Tarmac can see"),
        (PinnedGone(gpus=(GONE,)), "GPU 3 (GPU-1a2b3c4d…), to which it is pinned, is gone"),
        (PinnedGone(gpus=(GONE, 5)), "GPUs 3 (GPU-1a2b3c4d…), 5, to which it is pinned, are gone"),
        (lacking("exclude"), "1 GPU asked, all 4 are excluded"),
        (lacking("exclude", 3, 2), "3 GPUs asked, all but 2 of 4 are excluded"),
        (lacking("model", models=("h100", "h200")), "1 GPU of model h100 or h200 asked, there is none"),
        (lacking("model", 3, 2, models=("a100",)), "3 GPUs of model a100 asked, there are 2"),
        (
            lacking("model", 2, 1, models=("a100",), has_excluded=True),
            "2 GPUs of model a100 asked, there is 1 (without those excluded)",
        ),
        (lacking("mig", 2), "2 GPUs asked, but a job sees one MIG instance only"),
        (lacking("mig", 2, 1), "2 GPUs asked, but a job sees one MIG instance only; of whole GPUs there is 1"),
        (
            lacking("size", asked_bytes=80 * G, most_bytes=24 * G),
            "80.0 G of memory on a GPU asked, the largest has 24.0 G",
        ),
        (
            lacking("size", asked_bytes=24 * G + 1, most_bytes=24 * G),
            "25769803777 bytes of memory on a GPU asked, the largest has 25769803776 bytes",
        ),
        (
            lacking("size", 2, 1, asked_bytes=40 * G, most_bytes=80 * G),
            "2 GPUs with 40.0 G of memory asked, there is 1",
        ),
        (
            lacking("kept", asked_bytes=20 * G, most_bytes=18 * G),
            f"20.0 G of a GPU asked, at most 18.0 G ({18 * G} bytes) can be booked: {KEPT}",
        ),
        (
            lacking("kept", 2, 1, asked_bytes=20 * G, most_bytes=60 * G),
            "2 GPUs with 20.0 G to book asked, there is 1: keep_gpu_memory holds back a part of each",
        ),
        (HostTooSmall(what="cpus", asked=9, total=8), "9 cpus asked, this machine has 8"),
        (
            HostTooSmall(what="memory", asked=65 * G, total=64 * G),
            "65.0 G of host memory asked, this machine has 64.0 G",
        ),
    ],
)
def test_the_true_cause_is_said_with_its_numbers(lack: Lack, said: str) -> None:
    error = refusal_message(lack)
    assert error.message == said
    assert error.hint
