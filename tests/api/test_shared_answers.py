"""Clients that ask the same at the same time share an answer. Nobody gets one that is no longer true."""

import asyncio
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.responses import Response

from tarmac.api import shared_answers
from tarmac.api.shared_answers import LARGEST_BYTES, Question, SharedAnswers
from tarmac.api.wording.catalogue.dialect import Dialect
from tarmac.controller.requests.permissions import Caller
from tarmac.refusal import Refused, invalid
from tests.api.served import Served

ANN, BOB = (Caller(name=name, uid=uid, is_admin=False) for uid, name in enumerate(("ann", "bob")))
ENGLISH, CHINESE = Dialect("en", None), Dialect("zh", None)


class Asked:
    """Questions to an engine that is as the test says."""

    def __init__(self) -> None:
        self.engine = SimpleNamespace(generation=1, is_at_rest=True)
        self.answers = SharedAnswers(SimpleNamespace(engine=self.engine))  # type: ignore[arg-type]
        self.count = 0
        self.body = b"{}"
        self.gate = asyncio.Event()
        self.gate.set()

    async def _answer(self) -> Response:
        self.count += 1
        await self.gate.wait()
        if self.body == b"refuse":
            raise invalid("jobs.none_selected")
        return Response(self.body)

    def ask(
        self, caller: Caller = ANN, dialect: Dialect = ENGLISH, query: bytes = b""
    ) -> Coroutine[None, None, Response]:
        return self.answers.get(Question("/jobs", query, caller, dialect), self._answer)


def test_the_same_question_is_answered_once_and_others_apart() -> None:
    async def story() -> None:
        asked = Asked()
        asked.gate.clear()
        waiting = [asyncio.create_task(asked.ask()) for _ in range(5)]
        await asyncio.sleep(0)
        asked.gate.set()
        assert len({id(answer) for answer in await asyncio.gather(*waiting)}) == 1
        assert asked.count == 1
        for other in (asked.ask(BOB), asked.ask(dialect=CHINESE), asked.ask(query=b"state=failed")):
            await other
        assert asked.count == 4

    asyncio.run(story())


def test_after_a_decision_the_question_is_answered_again() -> None:
    async def story() -> None:
        asked = Asked()
        await asked.ask()
        asked.engine.generation += 1
        await asked.ask()
        assert asked.count == 2
        asked.gate.clear()
        asked.engine.generation += 1
        before = asyncio.create_task(asked.ask())
        await asyncio.sleep(0)
        asked.engine.generation += 1
        after = asyncio.create_task(asked.ask())
        await asyncio.sleep(0)
        asked.gate.set()
        assert await before is not await after

    asyncio.run(story())


def test_nothing_is_shared_while_memory_and_disk_may_differ() -> None:
    async def story() -> None:
        asked = Asked()
        await asked.ask()
        asked.engine.is_at_rest = False
        await asked.ask()
        await asked.ask()
        assert asked.count == 3

    asyncio.run(story())


@pytest.mark.parametrize("body", [b"refuse", b"x" * (LARGEST_BYTES + 1)])
def test_refusals_and_long_answers_are_not_kept(body: bytes) -> None:
    async def story() -> None:
        asked = Asked()
        asked.body = body
        for _ in range(2):
            try:
                await asked.ask()
            except Refused:
                assert body == b"refuse"
            await asyncio.sleep(0)
        assert asked.count == 2

    asyncio.run(story())


def test_an_answer_is_shared_for_a_moment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_answers, "SHARED_S", 0.01)

    async def story() -> None:
        asked = Asked()
        await asked.ask()
        await asyncio.sleep(0.05)
        await asked.ask()
        assert asked.count == 2
        assert not await _soon_empty(asked.answers)

    asyncio.run(story())


async def _soon_empty(answers: SharedAnswers) -> dict[Any, Any]:
    await asyncio.sleep(0.05)
    return answers._known


def test_a_client_that_leaves_does_not_take_the_answer_from_others() -> None:
    async def story() -> None:
        asked = Asked()
        asked.gate.clear()
        first, second = asyncio.create_task(asked.ask()), asyncio.create_task(asked.ask())
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        asked.gate.set()
        assert (await second).body == b"{}"

    asyncio.run(story())


def test_whoever_changes_a_job_sees_the_change_at_once(api: Served) -> None:
    number = api.ids({"command": ["true"], "gpus": 0}, entry="held")[0]
    for priority in range(1, 40):
        assert api.ask("PATCH", f"/jobs/{number}", {"priority": priority})[0] == 200
        listed = [api.ask("GET", "/jobs?fields=id,priority")[1]["jobs"] for _ in range(2)]
        assert listed == [[{"id": number, "priority": priority}]] * 2
