"""A machine that is suspended while a job runs: its boot clock goes on, its monotonic clock does not."""

from pathlib import Path

import pytest

from tests.agent.outcome.samples import KEY_ERROR, PYTHON
from tests.clock.shifted import ShiftedClock
from tests.home import Home, until


@pytest.mark.parametrize(
    ("text", "reason"), [(PYTHON + "RuntimeError: CUDA error: unknown error\n", "suspend"), (KEY_ERROR, "exit")]
)
def test_a_failure_that_a_suspend_explains_is_named(
    home: Home, shifted_clock: ShiftedClock, tmp_path: Path, text: str, reason: str
) -> None:
    home.environment.update(shifted_clock.environment)
    (tmp_path / "printed").write_text(text)
    script = "touch ready; while [ ! -e go ]; do sleep 0.01; done; cat printed; exit 1"
    job = home.add("-g", "0", "--cwd", str(tmp_path), "-c", script)
    assert until((tmp_path / "ready").exists)
    assert until(lambda: home.client().job(job).state == "running")
    shifted_clock.suspend(3600)
    (tmp_path / "go").touch()
    home.client().wait(job, timeout_s=60)
    assert home.client().job(job).reason == reason
    hinted = "the machine was suspended while the job ran" in " ".join(home.tarmac("show", str(job)).stdout.split())
    assert hinted == (reason == "suspend")
