"""The automatic clean-up by age."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from tarmac.controller.controller import Controller
from tarmac.controller.history import upkeep
from tarmac.controller.history.cleaning import Cleaned, Cleaner
from tarmac.controller.history.upkeep import Upkeep
from tests.controller.engine.desk import RecordingFleet, run


def test_ages_are_looked_at_once_an_hour_and_when_the_setting_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counting:
        looks = 0

        async def limited(self, wanted: Any, _: int) -> Any:
            return wanted

        async def clean(self, *_: object, **__: object) -> Cleaned:
            self.looks += 1
            return Cleaned(0, None)

    async def story(controller: Controller, _: RecordingFleet) -> None:
        cleaner, engine = Counting(), controller.engine
        await controller.change_setting("history_keep_s", lambda _: "30d")
        kept = Upkeep(engine, controller.store, cast("Cleaner", cleaner))
        for _try in range(3):
            await kept._clean()
        assert cleaner.looks == 1
        await controller.change_setting("history_keep_s", lambda _: "20d")
        await kept._clean()
        assert cleaner.looks == 2
        now = engine.now()
        monkeypatch.setattr(engine, "now", lambda: now + upkeep.AGES_S)
        await kept._clean()
        assert cleaner.looks == 3
        kept.end()
        await asyncio.sleep(0)

    run(tmp_path, story)
