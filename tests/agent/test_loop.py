"""Callbacks that lack descriptors are called again, and never in a tight loop."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

import pytest

from tarmac.agent import loop as loop_module
from tarmac.agent.loop import Loop


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    monkeypatch.setattr(loop_module, "_AFTER_SHORTAGE_S", 0.05)
    loop = Loop()
    loop.after(20, loop.stop, "deadline")
    return loop


def failing(times: int, then: Callable[[], None], calls: list[int]) -> Callable[[], None]:
    def callback() -> None:
        calls.append(1)
        if len(calls) <= times:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        then()

    return callback


def test_a_timer_fires_again(loop: Loop) -> None:
    calls: list[int] = []
    loop.after(0, failing(3, loop.stop, calls), "timer")
    loop.run()
    assert len(calls) == 4


def test_a_descriptor_rests_and_is_heard_again(loop: Loop) -> None:
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b"x")
    calls: list[int] = []

    def read() -> None:
        os.read(read_fd, 1)
        loop.stop()

    loop.watch(read_fd, failing(3, read, calls), "pipe")
    loop.run()
    assert len(calls) == 4, "once in each period, although the pipe is readable all the time"


def test_a_descriptor_can_be_changed_and_forgotten_while_it_rests(loop: Loop) -> None:
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b"x")
    calls: list[int] = []
    loop.watch(read_fd, failing(100, loop.stop, calls), "pipe")

    def forget() -> None:
        loop.change(read_fd, loop_module.READ)
        loop.unwatch(read_fd)
        os.close(read_fd)
        loop.after(0.2, loop.stop, "end")

    loop.after(0.01, forget, "forget")
    loop.run()
    assert len(calls) == 1


def test_a_callback_that_removed_itself_is_called_again(loop: Loop) -> None:
    """As that of a process that has ended."""
    read_fd, write_fd = os.pipe()
    os.write(write_fd, b"x")
    calls: list[int] = []
    then = failing(2, loop.stop, calls)

    def callback() -> None:
        if not calls:
            loop.unwatch(read_fd)
        then()

    loop.watch(read_fd, callback, "pipe")
    loop.run()
    assert len(calls) == 3


def test_any_other_error_is_logged_with_its_place(loop: Loop, capfd: pytest.CaptureFixture[str]) -> None:
    def broken() -> None:
        raise OSError(errno.EIO, "no disk")

    loop.after(0, broken, "a name")
    loop.after(0, loop.stop, "end")
    loop.run()
    shown = capfd.readouterr().err
    assert "a name: unexpected error" in shown
    assert "in broken" in shown
    assert "no disk" in shown
