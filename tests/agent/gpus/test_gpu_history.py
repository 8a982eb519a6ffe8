"""The file of what was learned of GPUs, where it cannot be written, and what is left out of it."""

from pathlib import Path
from typing import Any

import pytest

from tarmac.agent.gpus.gpu_history import GpuFile


def a_gpu(uuid: str, make: str = "nvidia") -> dict[str, Any]:
    known = {"index": 0, "uuid": uuid, "model": "A100", "memory_total_bytes": 1, "links": {}, "parent": None}
    return {**known, "make": make, "gone_since": None, "processes": [], "health": None}


def test_what_cannot_be_written_is_said_once_and_written_later(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "folder" / "cards.json"
    file = GpuFile(str(path))
    for _ in range(3):
        file.write({"G": a_gpu("G")}, {"G": 2}, {"G": "broke"})
    assert capfd.readouterr().err.count("cannot be kept") == 1
    path.parent.mkdir()
    file.write({"G": a_gpu("G")}, {"G": 2}, {"G": "broke"})
    learned = GpuFile(str(path)).read()
    assert (list(learned.gpus), learned.ecc, learned.troubles) == (["G"], {"G": 2}, {"G": "broke"})


def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    GpuFile(str(path)).write({"G": a_gpu("G")}, {}, {})
    before = path.stat().st_ino
    file = GpuFile(str(path))
    learned = file.read()
    file.write({uuid: {**a_gpu(uuid), **gpu} for uuid, gpu in learned.gpus.items()}, {}, {})
    assert path.stat().st_ino == before
    file.write({"G": a_gpu("G")}, {"G": 1}, {})
    assert path.stat().st_ino != before


def test_gpus_that_somebody_wrote_down_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    GpuFile(str(path)).write({make: a_gpu(make, make) for make in ("amd", "fake", "listed")}, {}, {})
    assert list(GpuFile(str(path)).read().gpus) == ["amd"]
