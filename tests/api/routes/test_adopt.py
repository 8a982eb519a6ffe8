"""The command of an adopted process, where the kernel reports no arguments at first, or never."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from tarmac.api.routes import adopt
from tarmac.refusal import Refused


def test_a_process_in_the_middle_of_exec_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter(["", "", "sleep\x0060\x00"])
    monkeypatch.setattr(Path, "read_text", lambda _, **__: next(looks))
    assert asyncio.run(adopt._command(42)) == ("sleep", "60")


def test_a_process_without_arguments_is_called_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopt, "LOOK_AGAIN_S", 0)
    monkeypatch.setattr(Path, "read_text", lambda path, **__: "kworker\n" if path.name == "comm" else "")
    assert asyncio.run(adopt._command(42)) == ("kworker",)


def test_a_process_that_ended_meanwhile_cannot_be_adopted() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    with pytest.raises(Refused, match=r"adopt\.ended"):
        asyncio.run(adopt._command(process.pid))
