"""`log_limit` and `tarmac log --since`: what a running job writes is looked at now and then."""

import json
from pathlib import Path

import pytest

from tests.home import Home, until

LIMIT = 1 << 20


def done(home: Home, *words: str) -> str:
    ended = home.tarmac(*words)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


COUNTING = "n=0; while [ ! -e {0}/stop ]; do for _ in 1 2 3 4 5 6 7 8; do echo line $((n += 1)) {1}; done; done"


@pytest.mark.parametrize("where", ["default", "chosen"])
def test_a_loop_cannot_fill_the_disk(home: Home, tmp_path: Path, where: str) -> None:
    done(home, "set", "log_limit", "1M")
    words = ["--log", f"{tmp_path}/out.log"] if where == "chosen" else []
    job = home.add("-g", "0", *words, "-c", COUNTING.format(tmp_path, "x" * 500) + "; echo the end")
    path = tmp_path / "out.log" if where == "chosen" else home.path / "logs" / f"{job}.1.log"
    older = path.with_name(f"{path.name}.older")
    assert until(older.exists, 60)
    first = older.stat().st_ino
    assert until(lambda: older.stat().st_ino != first, 60), "it is cut again"
    (tmp_path / "stop").touch()
    done(home, "wait", str(job))
    assert until(lambda: size_of(path) <= 3 * LIMIT)
    shown = home.tarmac("log", str(job))
    assert "of the output was removed (setting log_limit)" in shown.stderr
    numbers = [
        int(line.split()[1]) for line in shown.stdout.splitlines() if line.startswith("line ") and line.endswith("x")
    ]
    assert numbers == sorted(set(numbers))
    assert shown.stdout.endswith("the end\n")
    assert done(home, "log", "-n", "1", str(job)) == "the end\n"
    assert done(home, "log", "--grep", "the end", str(job)) == "the end\n"
    offset = json.loads(done(home, "log", "--json", str(job)))[0]["offset"]
    assert offset > LIMIT
    if where == "default":
        done(home, "rm", str(job))
        assert not older.exists()


def test_a_follower_goes_on_over_a_cut(home: Home, tmp_path: Path) -> None:
    done(home, "set", "log_limit", "64K")
    slow = COUNTING.format(tmp_path, "x" * 100).replace("; done; done", "; done; sleep 0.01; done")
    job = home.add("-g", "0", "-c", slow)
    following = home.start("log", "-f", str(job))
    assert following.stdout is not None
    older = home.path / "logs" / f"{job}.1.log.older"
    seen = []
    while not (older.exists() and len(seen) > 1000):
        seen.append(int(following.stdout.readline().split()[1]))
    (tmp_path / "stop").touch()
    rest = [int(line.split()[1]) for line in following.communicate(timeout=60)[0].splitlines()]
    numbers = seen + rest
    assert numbers == sorted(set(numbers)), "nothing is printed twice"
    assert len(numbers) >= numbers[-1] - 20, "what is written at the moment of a cut may be lost"


def test_a_file_with_earlier_content_is_never_cut(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "results.log"
    path.write_text("precious\n" * 1000)
    done(home, "set", "log_limit", "64K")
    job = home.add("-g", "0", "--log", str(path), "--append", "-c", "yes | head -c 500000; sleep 3")
    done(home, "wait", str(job))
    assert path.read_text().startswith("precious\n" * 1000)
    assert path.stat().st_size == 509_000
    assert list(tmp_path.glob("*.older")) == []


def test_what_was_written_since_a_time(home: Home, tmp_path: Path) -> None:
    done(home, "set", "log_limit", "1G")  # so that it is looked at soon
    script = f"echo old; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; echo new; sleep 60"
    job = str(home.add("-g", "0", "-c", script))
    assert until(lambda: done(home, "log", "--since", "1h", job) == "old\n")
    assert until(lambda: done(home, "log", "--since", "1s", job) == "", 60), "it is known to be older"
    (tmp_path / "go").touch()
    assert until(lambda: "new" in done(home, "log", job))
    assert done(home, "log", "--since", "1s", job) in {"new\n", ""}
    assert done(home, "log", "--since", "1h", job) == "old\nnew\n"
    done(home, "kill", "--grace", "0", job)
    assert until(lambda: home.client().job(int(job)).is_ended)
    assert until(lambda: done(home, "log", "--since", "1s", job) == "", 20)
    assert done(home, "log", "--since", "1h", job) == "old\nnew\n"


def test_a_time_that_is_not_in_the_past_is_refused(home: Home) -> None:
    for word in ("tomorrow", "2999-01-01", "x"):
        refused = home.tarmac("log", "--since", word, "last")
        assert refused.returncode == 2
        assert "--since" in refused.stderr
