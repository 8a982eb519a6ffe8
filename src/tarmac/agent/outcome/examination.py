"""Examines what a failed attempt left: the end of its output, its working directory. Called in file helpers only.

The shim has noted in the exit record where to look, so a later agent can do it, too.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Optional

from tarmac.agent import logs
from tarmac.agent.outcome.error_lines import Failure, find_failure, split

if TYPE_CHECKING:
    from tarmac.agent.frames import ExaminedFrame, ExamineFrame, OutputPlace
    from tarmac.shared.frames.reports import Outside

TAIL_BYTES = 64 * 1024  # of each file
_NO_SPACE = re.compile(r"No space left on device|\bENOSPC\b|Disk quota exceeded|\bEDQUOT\b")
_NO_FILE = re.compile(
    r"No such file or directory|\bENOENT\b|\bgetcwd\b|[Ss]tale (?:NFS )?file handle|FileNotFoundError"
)
# `/opt/venv/bin/pip: bad interpreter`, `FileNotFoundError: … '/opt/venv/bin/python'`, `python3: command not found`
_NO_INTERPRETER = re.compile(
    r"bad interpreter|required file not found$|No such file or directory: '[^']*/bin/[^']*'|"
    r"(?:^|[\s/:])(?:python|pypy|bash|zsh|sh|perl|ruby|node|julia|Rscript)[\d.]*: "
    r"(?:command not found|not found|No such file or directory)$"
)

_SUSPENDED_S = 5.0
# What a GPU, a driver or a network connection that did not survive a suspend may cause.
_DEVICE = re.compile(
    r"CUDA|HIP|NCCL|cuDNN|CUDNN|CUBLAS|NVML|\bGPU\b|\b[Dd]evice\b|\b[Dd]river\b|[Tt]imed? ?out|[Cc]onnection|"
    r"[Nn]etwork|unreachable|Broken pipe|BrokenPipe"
)


def examine(request: ExamineFrame) -> ExaminedFrame:
    """What the files say. Those that cannot be read say nothing."""
    failures = [_read(place) for place in request["outputs"]]
    failure = next((one for one in failures if one.memory is not None), None)
    if failure is None:
        # stderr, the last, is where programs say what is wrong
        failure = next((one for one in reversed(failures) if one.error_line is not None), Failure(None))
    answer: ExaminedFrame = {"type": "examined"}
    if failure.error_line is not None:
        answer["error_line"] = failure.error_line
    if failure.memory is not None:
        answer["oom"] = failure.memory
    outside = _outside(request, failure.error_line)
    if outside is not None:
        answer["outside"] = outside
    return answer


def _read(place: OutputPlace) -> Failure:
    try:
        data = logs.read_end(place["path"], place["begin"], TAIL_BYTES)
    except OSError:
        return Failure(None)
    return find_failure(split(data.decode("utf-8", "replace")))


def _outside(request: ExamineFrame, error_line: Optional[str]) -> Optional[Outside]:
    line = error_line or ""
    if _NO_SPACE.search(line):
        return "disk-full"
    if _is_cwd_gone(request, line):
        return "no-cwd"
    if _NO_INTERPRETER.search(line):
        return "no-interpreter"
    if request.get("suspended_s", 0.0) >= _SUSPENDED_S and (not line or _DEVICE.search(line)):
        return "suspend"
    return None


def _is_cwd_gone(request: ExamineFrame, line: str) -> bool:
    """True if the working directory was removed, and nothing but a missing file is named as the error.

    Another directory may have its name by now; then the error must be a missing file.
    """
    misses_file = _NO_FILE.search(line) is not None
    if line and not misses_file:
        return False
    try:
        return os.stat(request["cwd"]).st_ino != request["cwd_inode"] and misses_file
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
