import json
from pathlib import Path

import pytest

from tarmac.cli.main import run_line
from tests.cli.stub import answer, serving


def sent(socket: Path, line: str) -> dict[str, object]:
    with serving(socket, answer(b'{"ids": [7]}', "201 Created")) as stub:
        assert run_line(["add", *line.split(), "true"]) == 0
    job: dict[str, object] = json.loads(stub.requests[0].partition(b"\r\n\r\n")[2])["jobs"][0]
    return job


def test_gpu_options_are_sent_in_the_units_of_the_api(socket: Path) -> None:
    job = sent(socket, "-g 2 --gpu-mem 8G --gpu-model a100|h100 --min-gpu-mem 40G --idle-below 20% --mem 1.5T --cpus 4")
    assert {name: value for name, value in job.items() if name not in {"command", "cwd"}} == {
        "gpus": 2, "gpu_memory_bytes": 8 << 30, "gpu_models": ["a100", "h100"], "min_gpu_memory_bytes": 40 << 30,
        "idle_below": 20, "memory_bytes": 3 << 39, "cpus": 4,
    }  # fmt: skip


def test_a_pinned_job_needs_no_count(socket: Path) -> None:
    job = sent(socket, "--gpus-on 0,2-3 --exclude-gpus 1 --gpu-share 50%")
    assert (job["gpus_on"], job["exclude_gpus"], job["gpu_share"]) == ([0, 2, 3], [1], 0.5)
    assert "gpus" not in job


def test_gpus_are_named_by_index_or_uuid(socket: Path) -> None:
    job = sent(socket, "--gpus-on GPU-1a2b,0,2-3,MIG-7 --exclude-gpus GPU-9")
    assert (job["gpus_on"], job["exclude_gpus"]) == ([0, 2, 3, "GPU-1a2b", "MIG-7"], ["GPU-9"])


def test_options_that_are_not_given_are_not_sent(socket: Path) -> None:
    assert set(sent(socket, "-g 0")) == {"command", "cwd", "gpus"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-g 0 --gpu-mem 8G", "--gpu-mem needs a GPU, but -g 0 requests none"),
        ("-g 0 --gpus-on 1", "--gpus-on needs a GPU"),
        ("--gpu-mem 8G --gpu-share 0.5", "both set how much"),
        ("-g 3 --gpus-on 0,2", "-g 3 does not match --gpus-on 0,2, which names 2"),
        ("--gpus-on 0,2 --exclude-gpus 2", "GPU 2 is in both"),
        ("--gpu-mem 8", "which unit? 8G or 8M"),
        ("--gpu-mem lots", "such as 8G"),
        ("--gpu-share 2", "such as 0.5 or 50%"),
        ("--idle-below 0.2", "20%?"),
        ("--gpus-on all", "such as 0,2"),
        ("--gpus-on GPU-1,x", "such as 0,2"),
        ("--gpus-on GPU-1 --exclude-gpus GPU-1", "GPU GPU-1 is in both"),
        ("--cpus 0", "1 or more"),
    ],
)
def test_contradictions_are_refused_without_a_controller(
    socket: Path, capfd: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    assert run_line(["add", *line.split(), "true"]) == 2
    assert said in capfd.readouterr().err
    assert not socket.exists()
