"""The Python and the packages of a job are noted when it starts, and compared with today's."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tests.agent.environments.prefixes import make_venv
from tests.agent_peer import eventually
from tests.home import Home

SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def test_what_a_job_ran_with_is_shown_and_compared(shared_home: Home, tmp_path: Path) -> None:
    site = make_venv(tmp_path / ".venv") / SITE
    for name in ("torch-2.3.0.dist-info", "numpy-1.26.4.dist-info"):
        (site / name).mkdir()
    done = shared_home.tarmac("add", "-g", "0", "--array", "2", "--venv", ".venv", "python", "-c", "1", cwd=tmp_path)
    first, last = map(int, done.stdout.strip().split("-"))
    client = shared_home.client()
    client.wait(first, last)
    eventually(lambda: all(client.job(number).python for number in (first, last)), "their fingerprints are taken")
    version = ".".join(map(str, sys.version_info[:3]))
    assert f"python     {version}, 2 packages" in shared_home.tarmac("show", str(first)).stdout
    shown = json.loads(shared_home.tarmac("show", str(last), "--json").stdout)[0]["python"]
    assert shown["packages"] == {"numpy": "1.26.4", "torch": "2.3.0"}
    assert client.python_changes(first) == []
    (site / "torch-2.3.0.dist-info").rename(site / "torch-2.4.1.dist-info")
    shutil.rmtree(site / "numpy-1.26.4.dist-info")
    (site / "new-1.dist-info").mkdir()
    assert client.python_changes(first) == [
        {"name": "new", "then": None, "now": "1"},
        {"name": "numpy", "then": "1.26.4", "now": None},
        {"name": "torch", "then": "2.3.0", "now": "2.4.1"},
    ]
    warning = (
        f"the Python environment of jobs {first}-{last} has changed since then:\n"
        "  new added (1)\n  numpy removed (was 1.26.4)\n  torch 2.3.0 → 2.4.1\n"
    )
    again = shared_home.tarmac("rerun", f"{first}-{last}", "--hold")
    assert again.returncode == 0
    assert warning in again.stderr
    for number in range(6):
        (site / f"more{number}-1.dist-info").mkdir()
    again = shared_home.tarmac("rerun", str(first), "--hold", "--json")
    assert json.loads(again.stdout)["id"]
    assert "… and 4 more\n" in again.stderr
    other = make_venv(tmp_path / "other") / SITE
    for name in ("torch-2.3.0.dist-info", "numpy-1.26.4.dist-info"):
        (other / name).mkdir()
    again = shared_home.tarmac("rerun", str(first), "--hold", "--venv", str(tmp_path / "other"))
    assert (again.returncode, "Python environment" in again.stderr) == (0, False), "the copy has the old packages"


def test_the_pythons_of_two_jobs_are_compared(shared_home: Home, tmp_path: Path) -> None:
    site = make_venv(tmp_path / ".venv") / SITE
    (site / "torch-2.3.0.dist-info").mkdir()
    (tmp_path / ".tarmacignore").write_text(".venv/\n")
    client = shared_home.client()

    def ran() -> str:
        words = ("add", "-g", "0", "--venv", ".venv", "--snapshot", "python", "-c", "1")
        job = shared_home.tarmac(*words, cwd=tmp_path).stdout.strip()
        eventually(lambda: client.job(job).python is not None, "its fingerprint is taken")
        return job

    first, second = ran(), ran()
    assert shared_home.tarmac("diff", first, second).stderr == ""
    (site / "torch-2.3.0.dist-info").rename(site / "torch-2.4.1.dist-info")
    third = ran()
    compared = shared_home.tarmac("diff", first, third)
    assert (compared.returncode, compared.stdout) == (0, "")  # the code is the same
    assert compared.stderr == (
        f"tarmac: the Python environment differs from job {first} to job {third}:\n  torch 2.3.0 → 2.4.1\n"
    )
