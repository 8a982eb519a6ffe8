"""Questions to nodes about metrics."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tarmac.controller.results.metrics import Found, Wanted, _ask
from tarmac.core.model.ids import NodeName
from tarmac.refusal import Refused
from tests.core.support.builders import a_job


def test_a_pattern_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    class Fleet:
        async def ask(self, *_: object) -> dict[str, Any]:
            return {"found": [], "place": None, "is_too_slow": True}

    controller: Any = SimpleNamespace(fleet=Fleet(), state_folder=tmp_path)
    wanted = Wanted(patterns=({"pattern": "(a+)+x", "group": 1},))
    with pytest.raises(Refused) as refused:
        asyncio.run(_ask(controller, NodeName("local"), [a_job(1)], wanted, Found()))
    assert refused.value.key == "results.slow_pattern"
