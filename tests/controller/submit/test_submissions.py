"""Submits of very many jobs."""

import gc
import weakref
from pathlib import Path

import pytest

from tarmac.controller.controller import Controller
from tarmac.controller.engine.recovery import load_again
from tarmac.controller.submit import submissions
from tests.controller.engine.desk import RecordingFleet, run, specs, submit


def test_the_collector_does_not_look_at_very_many_jobs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "MANY", 3)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        before = gc.get_freeze_count()
        await submit(controller, specs(2))
        assert gc.get_freeze_count() == before
        await submit(controller, specs(3))
        assert gc.get_freeze_count() > before

    try:
        run(tmp_path, story)
    finally:
        gc.unfreeze()


class _Cycle:
    def __init__(self) -> None:
        self.me = self


def test_garbage_is_collected_before_very_many_jobs_are_frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "MANY", 3)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        garbage = weakref.ref(_Cycle())
        await submit(controller, specs(3))
        assert garbage() is None

    gc.disable()  # or it may be collected earlier
    try:
        run(tmp_path, story)
    finally:
        gc.enable()
        gc.unfreeze()


def test_frozen_jobs_are_collected_once_they_were_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "MANY", 3)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        cycle = _Cycle()
        garbage = weakref.ref(cycle)
        await submit(controller, specs(3))
        del cycle
        gc.collect()
        assert garbage() is not None, "it is frozen"
        load_again(controller.state, controller.state)
        gc.collect()
        assert garbage() is None

    try:
        run(tmp_path, story)
    finally:
        gc.unfreeze()
