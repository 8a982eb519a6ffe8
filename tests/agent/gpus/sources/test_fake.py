import pytest

from tarmac.agent.gpus.sources.fake import fake_gpus
from tests.nvml.reading import ProbeRun

GIB = 1024**3


@pytest.mark.parametrize(
    ("text", "memory_gib"),
    [
        ("4", [24] * 4),
        ("4x24G", [24] * 4),
        ("2x24G,1x80G", [24, 24, 80]),
        (" 1x16g , 1 ", [16, 24]),
        ("0", []),
        ("1x512M", [0.5]),
    ],
)
def test_the_variable_says_how_many_and_how_large(text: str, memory_gib: list[float]):
    gpus = fake_gpus(text)
    assert [gpu["memory_total_bytes"] for gpu in gpus] == [size * GIB for size in memory_gib]
    assert [gpu["index"] for gpu in gpus] == list(range(len(gpus)))


def test_a_simulated_gpu_keeps_its_uuid():
    assert (
        fake_gpus("2x24G,1x80G")[2]["uuid"] == fake_gpus("3")[2]["uuid"] == "GPU-fa4e0000-0000-0000-0000-000000000002"
    )


@pytest.mark.parametrize("text", ["four", "-1", "4x", "x24G", "4x24", "4,,4", "99999", "1e3"])
def test_an_invalid_value_is_quoted_in_the_error(text: str):
    with pytest.raises(ValueError, match="TARMAC_FAKE_GPUS=.*" + text):
        fake_gpus(text)


def test_simulated_gpus_are_sent_once_and_then_only_signs_of_life():
    with ProbeRun(fake="2x24G", alive_s=0.05) as probe:
        first, *rest = [probe.frame() for _ in range(4)]
    assert first is not None
    assert (len(first["gpus"]), first["absent"], first["source"]) == (2, {}, "fake")
    assert rest == [{"type": "alive"}] * 3


def test_a_bad_value_gives_no_gpus_and_the_reason():
    with ProbeRun(fake="many") as probe:
        frame = probe.frame()
    assert frame is not None
    assert frame["gpus"] == []
    assert "write 4, 4x24G" in frame["absent"]["fake"]


def test_simulated_gpus_need_neither_the_driver_nor_its_module():
    with ProbeRun(fake="1", env={"LD_LIBRARY_PATH": ""}) as probe:
        assert probe.frame() is not None
        with open(f"/proc/{probe.process.pid}/maps") as maps:
            assert "libnvidia-ml" not in maps.read()


def test_simulated_gpus_of_two_nodes_have_different_uuids() -> None:
    uuids = [gpu["uuid"] for node in ("", "second", "third") for gpu in fake_gpus("2", node)]
    assert len(set(uuids)) == 6
