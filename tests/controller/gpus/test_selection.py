"""GPUs by index, node and UUID, over one node or several."""

import pytest

from tarmac.controller.gpus.selection import gpus_named
from tarmac.core.model.gpu import Drain
from tarmac.core.model.ids import GpuUuid
from tarmac.refusal import Refused
from tests.core.support.builders import a_node

DESK, BIG = a_node(name="desk", gpus=2), a_node(name="big", gpus=3)


def test_an_index_is_enough_on_a_single_node() -> None:
    assert gpus_named([DESK], ["1", "desk:0", "1"]) == {"desk": ("desk-1", "desk-0")}


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["2"], {"big": ("big-2",)}),
        (["desk:0", "big:0"], {"desk": ("desk-0",), "big": ("big-0",)}),
        (["big-1", "desk:desk-1"], {"big": ("big-1",), "desk": ("desk-1",)}),
        (["desk:all", "desk:0"], {"desk": ("desk-0", "desk-1")}),
        (["big:1-2", "desk:0-0"], {"big": ("big-1", "big-2"), "desk": ("desk-0",)}),
        ([], {}),
    ],
)
def test_gpus_of_several_nodes(words: list[str], meant: dict[str, tuple[str, ...]]) -> None:
    assert gpus_named([DESK, BIG], words) == meant


def test_an_index_that_several_nodes_have_is_refused_with_the_choices() -> None:
    with pytest.raises(Refused) as caught:
        gpus_named([DESK, BIG], ["1"])
    assert caught.value.key == "gpu.on_several_nodes"
    assert caught.value.values == {"word": "1", "choices": ["desk:1", "big:1"]}


def test_an_unknown_gpu_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Refused) as caught:
        gpus_named([DESK, a_node(name="big", gpus=1)], ["desk:7"])
    assert (caught.value.kind, caught.value.key) == ("not_found", "gpu.unknown")
    assert caught.value.values == {"word": "desk:7", "known": ["desk:0", "desk:1", "big:0"]}


def test_a_gpu_of_an_unknown_node_is_refused_with_the_nodes() -> None:
    with pytest.raises(Refused) as caught:
        gpus_named([DESK, BIG], ["foo:0"])
    assert (caught.value.kind, caught.value.key) == ("not_found", "node.unknown")
    assert caught.value.values == {"node": "foo", "known": ["desk", "big"]}


def test_a_drained_gpu_that_is_away_is_found_by_its_uuid() -> None:
    node = a_node(name="desk", gpus=1)
    node.drains[GpuUuid("away")] = Drain(by="ann", reason="", since=1.0)
    assert gpus_named([node], ["away"]) == {"desk": ("away",)}
    assert gpus_named([node], ["desk:all"]) == {"desk": ("desk-0",)}
