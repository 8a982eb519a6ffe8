"""Whether an agent answers, and how old what it said is."""

import asyncio

from tarmac.nodes.liveness import Liveness


class Agent:
    def __init__(self) -> None:
        self.questions = 0
        self.is_frozen = False
        self.liveness = Liveness(self._ask)

    def _ask(self) -> None:
        self.questions += 1
        if not self.is_frozen:
            asyncio.get_running_loop().call_soon(self.liveness.heard)


def test_an_agent_that_answers_is_not_silent() -> None:
    async def story() -> None:
        agent = Agent()
        await agent.liveness.check()
        assert agent.questions == 1
        assert agent.liveness.silent_s is None

    asyncio.run(story())


def test_a_silent_agent_is_waited_for_once() -> None:
    async def story() -> None:
        agent = Agent()
        agent.is_frozen = True
        await asyncio.gather(*(agent.liveness.check(0.05) for _ in range(10)))
        assert agent.questions == 1
        first = agent.liveness.silent_s
        assert first is not None
        async with asyncio.timeout(10):
            await agent.liveness.check(0.05)  # at once
        assert agent.liveness.silent_s is not None
        assert agent.liveness.silent_s >= first > 0
        agent.liveness.heard()
        assert agent.liveness.silent_s is None
        agent.is_frozen = False
        await agent.liveness.check()
        assert agent.questions == 2

    asyncio.run(story())


def test_more_patience_waits_longer_for_an_agent_that_was_silent() -> None:
    async def story() -> None:
        agent = Agent()
        agent.is_frozen = True
        await agent.liveness.check(0.05)
        assert agent.liveness.silent_s is not None
        patient = asyncio.ensure_future(agent.liveness.check(3600))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not patient.done()
        agent.liveness.heard()
        await patient
        assert agent.liveness.silent_s is None

    asyncio.run(story())


def test_nobody_is_asked_while_nobody_looks() -> None:
    async def story() -> None:
        agent = Agent()
        agent.liveness.heard()
        assert agent.liveness.silent_s is None
        assert agent.questions == 0

    asyncio.run(story())
