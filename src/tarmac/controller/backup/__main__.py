"""`python -m tarmac.controller.backup`: what `tarmac backup` and `tarmac restore` run. Prints one JSON object."""

from __future__ import annotations

import argparse
import errno
import json
import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from tarmac import paths
from tarmac.api.wording.refusals import refusal
from tarmac.controller.backup.create import Wanted, write_backup
from tarmac.controller.backup.restore import examine, restore
from tarmac.errors import TarmacError, Unavailable
from tarmac.refusal import Refused

TERMINATED = 143


def main() -> int:
    options = _options()
    os.umask(0o077)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # what was begun is cleared away
    try:
        print(json.dumps(_done(options)))
    except Refused as refused:
        words = refusal(refused)
        return _failed(words.message, words.hint, Unavailable.exit_code if refused.kind == "unavailable" else 2)
    except TarmacError as error:
        return _failed(error.message, error.hint, error.exit_code)
    except (OSError, sqlite3.Error) as error:
        name = getattr(error, "filename", None)
        text = getattr(error, "strerror", None) or str(error)
        is_full = getattr(error, "errno", None) in {errno.ENOSPC, errno.EDQUOT}
        hint = "free some space on the disk" if is_full else None
        return _failed(f"{name}: {text}" if name else text, hint, 1, is_full=is_full)
    return 0


def _done(options: argparse.Namespace) -> dict[str, Any]:
    state, config = Path(options.state or paths.state_folder()), Path(paths.config_path())
    if options.action == "create":
        wanted = Wanted(with_logs=options.with_logs, with_snapshots=options.with_snapshots)
        with open(options.file, "r+b") as file:
            return write_backup(file, state, config, wanted, Path(f"{options.file}.db"))
    paths.make_private(str(state))
    if options.action == "examine":
        return examine(Path(options.file), state)
    done = restore(Path(options.file), state, config, with_config=options.with_config)
    return {**done._asdict(), "aside": None if done.aside is None else str(done.aside)}


def _failed(message: str, hint: str | None, code: int, *, is_full: bool = False) -> int:
    print(json.dumps({"error": message, "hint": hint, "is_full": is_full}))
    return code


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tarmac.controller.backup")
    parser.add_argument("action", choices=("create", "examine", "restore"))
    parser.add_argument("file")
    parser.add_argument("--state", default=None)
    parser.add_argument("--with-logs", action="store_true")
    parser.add_argument("--with-snapshots", action="store_true")
    parser.add_argument("--with-config", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
