"""The start of the controller: it loads what it needs, and garbage collection begins when it serves."""

import subprocess
import sys

from tests.home import Home

# The command line of uvicorn and what it brings; the parser of a config file that most machines do not have.
NEEDLESS = ("click", "uvicorn.main", "uvicorn.supervisors", "multiprocessing", "tomllib", "pynvml", "apprise", "yaml")


def test_needless_modules_are_not_loaded_at_the_start() -> None:
    program = (
        "import sys, tarmac.controller.process\n"
        f"assert not set({NEEDLESS!r}) & set(sys.modules), set({NEEDLESS!r}) & set(sys.modules)\n"
        "import uvicorn.main\n"
        "assert callable(uvicorn.main.run), 'the real one is still there'\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_garbage_is_collected_once_it_serves(home: Home) -> None:
    """A thread of the same process looks."""
    program = (
        "import gc, runpy, sys, threading, time\n"
        "sys.argv = ['tarmac.controller']\n"
        "def look():\n"
        "    while not gc.isenabled():\n"
        "        time.sleep(0.01)\n"
        "    print('enabled', gc.get_freeze_count() > 10_000, flush=True)\n"
        "gc.disable()\n"
        "threading.Thread(target=look, daemon=True).start()\n"
        "runpy.run_module('tarmac.controller', run_name='__main__')\n"
    )
    home.path.mkdir(mode=0o700)
    controller = subprocess.Popen(
        [sys.executable, "-c", program], env=home.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert controller.stdout is not None
    with controller.stdout:
        assert controller.stdout.readline() == b"enabled True\n"
    assert home.tarmac("stop").returncode == 0
    assert controller.wait(30) == 0
