"""What an attempt needs from the agent's service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Protocol, Set

if TYPE_CHECKING:
    from tarmac.agent.frames import ExaminedFrame, FailedRecord
    from tarmac.agent.loop import Loop
    from tarmac.agent.run.attempt import Attempt
    from tarmac.agent.run.shim_pool import AgentContext
    from tarmac.shared.frames.reports import ReportFrame
    from tarmac.shared.system.proc import Stat


class AttemptHost(Protocol):
    loop: Loop
    context: AgentContext

    def report(self, attempt: Attempt, report: ReportFrame) -> None: ...

    def examine(self, record: FailedRecord, done: Callable[[Optional[ExaminedFrame]], None]) -> None: ...

    def never_started(self, attempt: Attempt) -> None: ...

    def release(self, attempt: Attempt) -> None: ...

    def orphans(self, stats: Dict[int, Stat]) -> List[int]: ...

    def guards(self, attempt: Attempt) -> Set[int]: ...
