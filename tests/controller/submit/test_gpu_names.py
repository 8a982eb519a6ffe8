import pytest

from tarmac.controller.submit.gpu_names import GpuNames
from tarmac.core.model.gpu import Gpu, GpuUse
from tarmac.core.model.ids import GpuUuid, NodeName
from tarmac.core.model.node import Node
from tarmac.refusal import Refused


def a_node(name: str = "box", **uuids: int) -> Node:
    gpus = {GpuUuid(uuid): Gpu(uuid=GpuUuid(uuid), index=index) for uuid, index in uuids.items()}
    return Node(name=NodeName(name), cpu_job_slots=1, gpus=gpus, has_reported_gpus=True)


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
def test_a_gpu_is_named_by_its_index_its_uuid_or_the_start_of_its_uuid(words: tuple[int | str, ...], meant: list[str]):
    assert uuids(*words) == meant


@pytest.mark.parametrize("word", ["GPU-c", "²"])
def test_a_word_that_starts_no_uuid_is_refused(word: str):
    with pytest.raises(Refused) as caught:
        uuids(0, word)
    assert (caught.value.key, caught.value.values) == ("gpu.unknown_uuid", {"word": word})


@pytest.mark.parametrize("word", [9, "9"])
def test_an_unknown_index_is_refused_with_the_known_ones(word: int | str):
    with pytest.raises(Refused) as caught:
        uuids(0, word)
    assert (caught.value.key, caught.value.values) == ("gpu.unknown", {"word": word, "known": [0, 1, 2]})


def test_an_ambiguous_start_of_a_uuid_is_refused_with_the_matches():
    with pytest.raises(Refused) as caught:
        uuids("GPU-a")
    assert caught.value.key == "gpu.ambiguous"
    assert caught.value.values == {"word": "GPU-a", "matches": 3, "uuids": ["GPU-aa11", "GPU-ab22", "GPU-ab"]}


def test_an_index_means_the_gpu_that_has_it_now_and_a_lost_gpu_is_named_by_uuid():
    node = a_node(**{"GPU-old": 0, "GPU-new": 0})
    node.uses[GpuUuid("GPU-old")] = GpuUse(health="vanished")
    names = GpuNames([node])
    assert [gpu.uuid for gpu in names.found((0,)).gpus] == ["GPU-new"]
    assert [gpu.uuid for gpu in names.found(("GPU-old",)).gpus] == ["GPU-old"]
    assert names.known() == ["GPU-old", 0]


def test_an_index_of_several_nodes_must_name_its_node():
    names = GpuNames([a_node(**{"GPU-a": 0, "GPU-b": 1}), a_node("other", **{"GPU-c": 0})])
    found = names.found(("box:0", "other:0", 1))
    assert ([gpu.uuid for gpu in found.gpus], found.nodes) == (["GPU-a", "GPU-c", "GPU-b"], ("box", "other"))
    assert names.known() == ["box:0", "box:1", "other:0"]
    with pytest.raises(Refused) as caught:
        names.found((0,))
    assert (caught.value.key, caught.value.values["choices"]) == ("gpu.on_several_nodes", ["box:0", "other:0"])


TWO = [a_node(**{"GPU-a": 0, "GPU-b": 1, "GPU-c": 2}), a_node("other", **{"GPU-d": 0}), a_node("empty")]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("box:0-1", ["GPU-a", "GPU-b"]),
        ("box:all", ["GPU-a", "GPU-b", "GPU-c"]),
        ("other:all", ["GPU-d"]),
        ("box:gpu-b", ["GPU-b"]),
        ("1-2", ["GPU-b", "GPU-c"]),
    ],
)
def test_the_gpus_of_a_node_are_named_by_a_range_or_as_all(word: str, meant: list[str]):
    assert [gpu.uuid for gpu in GpuNames(TWO).found((word,)).gpus] == meant


@pytest.mark.parametrize(
    ("word", "key", "values"),
    [
        ("foo:0", "node.unknown", {"node": "foo", "known": ["box", "other", "empty"]}),
        ("foo:all", "node.unknown", {"node": "foo", "known": ["box", "other", "empty"]}),
        ("other:0-4000", "gpu.unknown", {"word": "other:1", "known": ["box:0", "box:1", "box:2", "other:0"]}),
        ("box:2-1", "gpu.range_reversed", {"word": "box:2-1"}),
        ("0-1", "gpu.on_several_nodes", {"word": "0", "choices": ["box:0", "other:0"]}),
        ("empty:all", "gpu.unknown", {"word": "empty:all", "known": ["box:0", "box:1", "box:2", "other:0"]}),
        ("all", "gpu.unknown_uuid", {"word": "all"}),
    ],
)
def test_what_no_node_has_is_refused(word: str, key: str, values: dict[str, object]):
    with pytest.raises(Refused) as caught:
        GpuNames(TWO).found((word,))
    assert (caught.value.key, caught.value.values) == (key, values)


def test_names_cannot_be_resolved_before_a_node_has_reported_its_gpus():
    silent = Node(name=NodeName("box"), cpu_job_slots=1)
    for nodes in ([], [silent]):
        with pytest.raises(Refused) as caught:
            GpuNames(nodes).found((0,))
        assert caught.value.kind == "unavailable"
        assert GpuNames(nodes).found(()).gpus == ()
