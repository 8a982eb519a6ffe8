"""The file of what is known about the GPUs: unwritable places, and what it leaves out."""

from pathlib import Path
from typing import Any

import pytest

from tarmac.agent.gpus.gpu_history import GpuHistory


def a_gpu(uuid: str, make: str = "nvidia") -> dict[str, Any]:
    known = {"index": 0, "uuid": uuid, "model": "A100", "memory_total_bytes": 1, "links": {}, "parent": None}
    return {**known, "make": make, "gone_since": None, "processes": [], "health": None}


def test_a_failed_write_is_logged_once_and_made_up_for_later(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "folder" / "cards.json"
    history = GpuHistory(str(path))
    for _ in range(3):
        history.write({"G": a_gpu("G")}, {"G": 2}, {"G": "broke"})
    assert capfd.readouterr().err.count("cannot write") == 1
    path.parent.mkdir()
    history.write({"G": a_gpu("G")}, {"G": 2}, {"G": "broke"})
    records = GpuHistory(str(path)).read()
    assert (list(records.gpus), records.ecc, records.troubles) == (["G"], {"G": 2}, {"G": "broke"})


def test_an_unchanged_history_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    GpuHistory(str(path)).write({"G": a_gpu("G")}, {}, {})
    before = path.stat().st_ino
    history = GpuHistory(str(path))
    records = history.read()
    history.write({uuid: {**a_gpu(uuid), **gpu} for uuid, gpu in records.gpus.items()}, {}, {})
    assert path.stat().st_ino == before
    history.write({"G": a_gpu("G")}, {"G": 1}, {})
    assert path.stat().st_ino != before


def test_simulated_and_configured_gpus_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    GpuHistory(str(path)).write({make: a_gpu(make, make) for make in ("amd", "fake", "listed")}, {}, {})
    assert list(GpuHistory(str(path)).read().gpus) == ["amd"]
