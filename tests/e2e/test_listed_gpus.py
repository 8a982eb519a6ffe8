"""GPUs that no driver reports, from the config file to the scheduler's decision."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.home import Home, homes


@pytest.fixture
def listing(tmp_path: Path) -> Iterator[Home]:
    (tmp_path / "config.toml").write_text(
        '[[gpus]]\nindex = 0\nmodel = "Gaudi 2"\nmemory = "24G"\n[[gpus]]\nindex = 1\nmemory = "48G"\n'
    )
    yield from homes(tmp_path, gpus="")


def test_listed_gpus_have_the_memory_that_the_config_file_gives_them(listing: Home) -> None:
    shown = json.loads(listing.tarmac("gpus", "--json").stdout)
    assert [(gpu["model"], gpu["make"], gpu["memory_total_bytes"]) for gpu in shown] == [
        ("Gaudi 2", "listed", 24 * 2**30),
        ("GPU", "listed", 48 * 2**30),
    ]
    (large,) = listing.client().wait(listing.add("--min-gpu-mem", "40G", "true"), timeout_s=60)
    assert [gpu["index"] for gpu in large.gpus] == [1]
    refused = listing.tarmac("add", "--min-gpu-mem", "60G", "true")
    assert (refused.returncode, refused.stdout) == (2, "")
