"""Writes the body of an origin of the present version into tests/nodes/origins: python -m tests.nodes.write_origin

Run it once per release and never again: nodes keep such bodies for as long as an attempt runs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tarmac import __version__
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid
from tarmac.core.model.job import Job
from tarmac.nodes.run_origins import packed
from tests.core.support.builders import a_job, a_spec

FOLDER = Path(__file__).parent / "origins"
GPUS = (
    BookedGpu(uuid=GpuUuid("GPU-a"), index=0),
    BookedGpu(uuid=GpuUuid("MIG-b"), index=3, memory_bytes=1 << 30, part=0.5, parent=GpuUuid("GPU-b")),
)


def a_full_job() -> Job:
    spec = a_spec(gpus=2, name="full", project="p", tags=("a", "b"), priority=3, stderr="/tmp/err", tier="preemptible")
    return replace(a_job(7), spec=spec)


def main() -> None:
    path = FOLDER / f"{__version__}.json"
    if path.exists():
        raise SystemExit(f"{path} is there already; that of a release is never written again. Remove it if unreleased.")
    FOLDER.mkdir(exist_ok=True)
    path.write_text(packed(a_full_job(), GPUS, "/tmp/out")["body"] + "\n")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
