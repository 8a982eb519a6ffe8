import pytest

from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.core.model.gpu import Gpu, GpuUse
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.core.model.node import Node
from tarmac.errors import Unavailable, UserError


def a_node(name: str = "box", **uuids: int) -> Node:
    gpus = {GpuUuid(uuid): Gpu(uuid=GpuUuid(uuid), index=index) for uuid, index in uuids.items()}
    return Node(name=NodeName(name), cpu_job_slots=1, gpus=gpus, has_told_gpus=True)


BOX = a_node(**{"GPU-aa11": 0, "GPU-ab22": 1, "GPU-ab": 2})


def uuids(*words: int | str) -> list[str]:
    return [gpu.uuid for gpu in GpuNames([BOX]).found(words).gpus]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ((1, 0), ["GPU-aa11", "GPU-ab22"]),
        (("0",), ["GPU-aa11"]),
        (("GPU-ab22",), ["GPU-ab22"]),
        (("gpu-aa",), ["GPU-aa11"]),
        (("GPU-ab",), ["GPU-ab"]),
        ((0, "GPU-aa11", "GPU-aa"), ["GPU-aa11"]),
        ((), []),
    ],
)
def test_a_gpu_is_meant_by_its_index_its_uuid_or_how_that_begins(words: tuple[int | str, ...], meant: list[str]):
    assert uuids(*words) == meant


@pytest.mark.parametrize("word", ["GPU-c", "²"])
def test_what_is_no_uuid_is_refused_by_name(word: str):
    with pytest.raises(UserError, match=f"no GPU whose UUID begins with {word}"):
        uuids(0, word)


@pytest.mark.parametrize("word", [9, "9"])
def test_what_means_no_gpu_is_refused_with_those_that_there_are(word: int | str):
    with pytest.raises(UserError) as caught:
        uuids(0, word)
    assert caught.value.message == f"there is no GPU {word}"
    assert caught.value.hint == "there are: 0, 1, 2; `tarmac gpus` shows them"


def test_a_beginning_of_several_is_refused_with_them():
    with pytest.raises(UserError, match="GPU-a is the beginning of 3 GPUs") as caught:
        uuids("GPU-a")
    assert "GPU-aa11, GPU-ab22, GPU-ab" in str(caught.value.hint)


def test_a_number_means_the_gpu_that_has_it_now_and_one_that_is_gone_is_meant_by_uuid():
    node = a_node(**{"GPU-old": 0, "GPU-new": 0})
    node.uses[GpuUuid("GPU-old")] = GpuUse(health="vanished")
    names = GpuNames([node])
    assert [gpu.uuid for gpu in names.found((0,)).gpus] == ["GPU-new"]
    assert [gpu.uuid for gpu in names.found(("GPU-old",)).gpus] == ["GPU-old"]
    assert names.there_are() == "GPU-old, 0"


def test_an_index_means_a_gpu_of_every_node():
    found = GpuNames([a_node(**{"GPU-a": 0, "GPU-b": 1}), a_node("other", **{"GPU-c": 0})]).found((0, 1))
    assert ([gpu.uuid for gpu in found.gpus], found.most_on_a_node) == (["GPU-a", "GPU-c", "GPU-b"], 2)


def test_while_no_node_has_told_its_gpus_nobody_can_say():
    silent = Node(name=NodeName("box"), cpu_job_slots=1)
    for nodes in ([], [silent]):
        with pytest.raises(Unavailable, match="not known yet"):
            GpuNames(nodes).found((0,))
        assert GpuNames(nodes).found(()).gpus == ()
