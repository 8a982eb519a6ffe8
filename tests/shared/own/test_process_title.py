"""The title of a process, as `ps` and `pgrep` see it."""

import subprocess
import sys
from pathlib import Path

import pytest

SHOW = "print(open('/proc/self/cmdline', 'rb').read().rstrip(b'\\0').split(b'\\0'), open('/proc/self/comm').read())"


def run(code: str, *words: str) -> str:
    program = f"from tarmac.shared.own import process_title\nimport os, subprocess\n{code}"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    return done.stdout


def test_only_the_first_word_is_replaced() -> None:
    shown = run(f"process_title.begin('tarmac: test', 'tarmac-test')\n{SHOW}", "--state", "/some/where")
    assert shown.startswith("[b'tarmac: test', b'-c', ")
    assert "b'--state', b'/some/where'" in shown
    assert shown.endswith(" tarmac-test\n\n")


def test_descriptor_for_the_ready_message_is_not_shown() -> None:
    shown = run(f"process_title.begin('tarmac: test', 'test')\n{SHOW}", "--state", "/x", "--ready-fd", "7")
    assert "b'/x'] test" in shown


def test_title_can_be_longer_or_shorter_than_the_last() -> None:
    code = f"process_title.begin('tarmac: test', 'test')\nprocess_title.change('a' * 5000)\n{SHOW}\n"
    first, second = run(code + f"process_title.change('b')\n{SHOW}", "--state", "/x").split("\n\n")[:2]
    assert "b'aaaa" in first
    assert second.startswith("[b'b', b'-c', ")
    assert "b'/x']" in second


def test_environment_stays_as_it_is() -> None:
    code = "process_title.begin('t' * 5000, 'test')\nprint(open('/proc/self/environ', 'rb').read() == before)"
    assert run(f"before = open('/proc/self/environ', 'rb').read()\n{code}") == "True\n"


def test_fork_inherits_it_and_a_command_does_not() -> None:
    code = "process_title.begin('tarmac: test', 'test')\nif os.fork() == 0:\n    process_title.change('tarmac: fork')\n"
    shown = run(f"{code}    {SHOW}\n    os._exit(os.system('cat /proc/self/cmdline'))\nos.wait()\n{SHOW}")
    assert "cat\0/proc/self/cmdline\0" in shown
    assert "[b'tarmac: test', " in shown


@pytest.mark.parametrize("missing", ["/proc/self/stat", "/proc/self/mem"])
def test_without_that_part_of_proc_nothing_changes(missing: str) -> None:
    hide = (
        "import builtins\nopened, os_opened = open, os.open\n"
        f"def find(path, *more, **options):\n    return opened('/nowhere' if path == {missing!r} else path, *more)\n"
        f"def os_find(path, *more):\n    return os_opened('/nowhere' if path == {missing!r} else path, *more)\n"
        "builtins.open, os.open = find, os_find\n"
    )
    shown = run(f"{hide}process_title.begin('tarmac: test', 'test')\nprocess_title.change('other')\n{SHOW}")
    assert Path(sys.executable).name in shown.partition(",")[0]
