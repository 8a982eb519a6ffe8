"""What Prometheus would read from a running Tarmac."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tarmac.api.metrics.families import FAMILIES
from tests.home import Home, until
from tests.services import need

NASTY = 'a"b\\c\nd'


def samples(home: Home) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    done = home.tarmac("metrics")
    assert (done.returncode, done.stderr) == (0, "")
    families = list(text_string_to_metric_families(done.stdout))
    assert {family.name for family in families} == {one.name.removesuffix("_total") for one in FAMILIES}
    found = [(one.name, tuple(sorted(one.labels.items())), one.value) for family in families for one in family.samples]
    assert len({pair[:2] for pair in found}) == len(found), "no sample twice"
    return {(name, labels): value for name, labels, value in found}


def total(home: Home, name: str, **labels: str) -> float:
    wanted = set(labels.items())
    return sum(value for (one, given), value in samples(home).items() if one == name and wanted <= set(given))


def test_jobs_gpus_and_gpu_time_are_served(home: Home) -> None:
    done = home.add("-g", "0", "--", "false")
    assert home.tarmac("wait", str(done)).returncode == 1
    job = home.add("--project", NASTY, "--", "sleep", "300")
    waiting = home.add("-g", "2", "--", "true")
    assert until(lambda: home.client().job(job).state == "running")
    assert home.client().job(waiting).state == "queued"
    assert total(home, "tarmac_jobs", state="running") == 1
    assert total(home, "tarmac_jobs", state="waiting") == 1
    assert total(home, "tarmac_jobs_ended_total", state="failed", reason="exit") == 1
    assert total(home, "tarmac_jobs_submitted_total") == 3
    assert total(home, "tarmac_job_wait_seconds_count") == 2
    assert total(home, "tarmac_gpu_reserved_ratio") == 1
    assert total(home, "tarmac_gpu_memory_size_bytes") == 2 * 24 * 2**30
    assert total(home, "tarmac_node_up") == 1
    assert total(home, "tarmac_writable") == 1
    assert until(lambda: total(home, "tarmac_gpu_held_seconds_total", kind="job", project=NASTY) > 0)
    assert home.tarmac("gpu", "drain", "1").returncode == 0
    assert total(home, "tarmac_gpu_drained") == 1


def test_metrics_are_where_prometheus_looks(home: Home) -> None:
    need("curl")
    assert home.tarmac("status").returncode == 0
    for path in ("/metrics", "/api/v1/metrics"):
        command = ["curl", "-si", "--unix-socket", str(home.path / "tarmac.sock"), f"http://localhost{path}"]
        answer = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        head, _, body = answer.partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 200")
        assert "content-type: text/plain; version=0.0.4; charset=utf-8" in head.lower()
        assert body.startswith("# HELP tarmac_build_info ")


def test_metrics_are_written_to_a_file_at_once(home: Home, tmp_path: Path) -> None:
    target = tmp_path / "tarmac.prom"
    target.write_text("old")
    before = target.stat().st_ino
    assert home.tarmac("status").returncode == 0
    done = home.tarmac("metrics", "-o", str(target), umask=0o077)
    assert (done.returncode, done.stdout) == (0, "")
    assert target.read_text().startswith("# HELP tarmac_build_info ")
    assert target.stat().st_ino != before
    assert stat.S_IMODE(target.stat().st_mode) == 0o644, "node_exporter is another user"
    assert os.listdir(tmp_path).count("tarmac.prom") == 1
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_metrics_start_no_controller(home: Home, tmp_path: Path) -> None:
    target = tmp_path / "tarmac.prom"
    target.write_text("old")
    done = home.tarmac("metrics", "-o", str(target))
    assert (done.returncode, done.stdout, target.read_text()) == (5, "", "old")
    assert "no controller" in done.stderr
    assert not home.processes()


@pytest.mark.parametrize("path", ["missing/tarmac.prom", "."])
def test_a_file_that_cannot_be_written_is_named(home: Home, tmp_path: Path, path: str) -> None:
    assert home.tarmac("status").returncode == 0
    done = home.tarmac("metrics", "-o", path, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"tarmac: cannot write {path}: ")
    assert ".tmp" not in done.stderr
    assert os.listdir(tmp_path) in ([], ["home"])
