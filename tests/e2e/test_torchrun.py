"""A real torchrun (CPU, gloo) over two nodes: Tarmac's variables are all that it needs."""

import os
import sys
from pathlib import Path

import pytest

from tests.e2e.test_multi_node import ended, output, started, three  # noqa: F401 - fixtures
from tests.home import Home
from tests.services import need_torch

pytestmark = pytest.mark.timeout(900)  # with the installation of PyTorch

TRAIN = """
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1])
dist.all_reduce(total)
line = f"node {os.environ['TARMAC_NODE']} rank {dist.get_rank()} of {dist.get_world_size()}: sum {total.item()}"
print(line + os.linesep, end="", flush=True)
dist.destroy_process_group()
if os.environ.get("FAILS_ON") == os.environ["RANK"]:
    raise SystemExit(3)
"""


@pytest.fixture(scope="module")
def options() -> list[str]:
    path = need_torch()
    return ["--env", "OMP_NUM_THREADS=1", "--env", f"PYTHONPATH={path}", "--env", "PYTHONWARNINGS=ignore"]


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    return str(path)


def torchrun(home: Home, script: str, *options: str) -> int:
    """Without options of torchrun: they are in its environment."""
    words = ["--nodes", "2", "-g", "2", *options, sys.executable, "-m", "torch.distributed.run", script]
    return home.add(*words)


def test_torchrun_trains_on_two_nodes(three: Home, options: list[str], script: str) -> None:  # noqa: F811
    job = ended(three, torchrun(three, script, *options))
    nodes = [part["node"] for part in job.parts or ()]
    texts = {node: output(three, job.id, node) for node in nodes}
    assert job.state == "succeeded", texts
    lines = sorted(line for text in texts.values() for line in text.splitlines() if line.startswith("node "))
    ranks = [(0, nodes[0]), (1, nodes[0]), (2, nodes[1]), (3, nodes[1])]
    assert lines == sorted(f"node {node} rank {rank} of 4: sum 10" for rank, node in ranks)


def test_a_worker_that_fails_ends_torchrun_on_both_nodes(three: Home, options: list[str], script: str) -> None:  # noqa: F811
    job = ended(three, torchrun(three, script, *options, "--env", "FAILS_ON=3"))
    assert (job.state, job.reason) == ("failed", "exit")
    assert all(part["state"] != "running" for part in job.parts or ())
    assert not any(os.path.exists(f"/proc/{part['pid']}") for part in job.parts or ())
