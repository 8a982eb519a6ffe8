"""`python -m bench` on a small trace."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.scheduling.grid import Grid, Result, Setting
from bench.scheduling.rows import ROWS
from bench.scheduling.waits import against_fifo
from bench.scheduling.workload import synthetic_jobs

WAITS = "limits,fifo,easy,max-min,sjf"
ROOT = Path(__file__).parents[3]


def bench(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "bench", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=100, cwd=ROOT)


@pytest.fixture
def trace(tmp_path: Path) -> str:
    rows = [
        f"{job.submit_s},{job.owner},{job.gpus},{job.duration_s},{job.limit_s / job.duration_s}\n"
        for job in synthetic_jobs(200)
    ]
    (tmp_path / "jobs.csv").write_text("submit_s,owner,gpus,duration_s,factor\n" + "".join(rows))
    return str(tmp_path / "jobs.csv")


def test_a_trace_is_measured_and_every_figure_has_a_limit_and_an_aim(trace: str):
    done = bench("--trace", trace, "--only", WAITS, "--json")
    assert done.returncode in {0, 1}, done.stderr
    figures = json.loads(done.stdout)
    assert len(figures) >= 11
    assert all(figure["verdict"] in {"AIM", "OK", "MISS"} for figure in figures)
    assert "1×8, window 4, load 1.1: EASY:" in done.stderr
    done = bench("--trace", trace, "--only", "easy")
    assert done.stdout.splitlines()[0].split() == ["what", "measured", "ratio", "must", "aim"]


def test_an_unknown_row_is_refused():
    done = bench("--only", "limits,nonsense")
    assert done.returncode == 2
    assert "unknown: nonsense; the rows are limits, fifo" in done.stderr
    assert "nonsense" not in ROWS


def test_settings_above_plain_fifo_are_counted_and_the_worst_utilization_is_named():
    grid = Grid(synthetic_jobs(40))
    for setting in grid.settings(1, 4):
        for name, wait_s, utilization in (("plain FIFO", 100, 0.5), ("EASY", 50, 0.9), ("fifo, none", 100, 0.9)):
            grid.results[setting, name] = Result(wait_s, utilization)
        grid.results[setting, "balance, none"] = Result(90, 0.89)
    grid.results[Setting(4, 2, 0.9), "balance, none"] = Result(101, 0.7)
    above, lost, fifo_above, fifo_lost = against_fifo(grid)
    assert (above.ratio, above.verdict) == (1, "MISS")
    assert (round(lost.ratio), lost.verdict) == (20, "MISS")
    assert "4×8, window 3, load 0.9" in lost.note
    assert (fifo_above.verdict, fifo_lost.verdict) == ("AIM", "AIM")
