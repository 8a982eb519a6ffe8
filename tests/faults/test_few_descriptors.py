"""A whole Tarmac under a low limit of file descriptors."""

import subprocess
from pathlib import Path

from tests.home import BIN, Home


def test_all_jobs_run_and_get_the_limit_of_the_shell(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    words = ["prlimit", "--nofile=80:96", str(BIN / "tarmac"), "status"]
    subprocess.run(words, env=home.environment, check=True, capture_output=True)
    added = home.tarmac("add", "--array", "0-39", "-g", "0", "-c", "ulimit -Sn; sleep 0.3")
    assert added.returncode == 0, added.stderr
    assert home.tarmac("wait", "all", timeout_s=120).returncode == 0
    assert home.tarmac("log", "1").stdout == "80\n"
    assert not home.clean()
