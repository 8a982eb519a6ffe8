"""The controller's own log file, through Python's logging."""

from __future__ import annotations

import logging

from tarmac.shared.own.log import OwnLog

LINE = "%(asctime)s %(levelname)s %(name)s %(message)s"


class _OwnLogHandler(logging.Handler):
    def __init__(self, own_log: OwnLog) -> None:
        super().__init__()
        self._own_log = own_log
        self.setFormatter(logging.Formatter(LINE))

    def emit(self, record: logging.LogRecord) -> None:
        self._own_log.write(self.format(record))


def log_to_file(path: str) -> None:
    """Log to this file from now on, which the process has as its standard output and error."""
    own_log = OwnLog(path)
    own_log.open()
    own_log.keep_small()
    logging.basicConfig(level=logging.INFO, handlers=[_OwnLogHandler(own_log)], force=True)
