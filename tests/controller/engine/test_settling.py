"""The use of GPUs is counted up to the event that frees them."""

from tarmac.controller.engine.settling import Settling
from tarmac.controller.gpus.usage import UsageBook, jobs_with_gpus
from tarmac.core.events import Event, GpusSeen, JobExited, JobsSubmitted, JobStarted, NodeJoined, Reported
from tarmac.core.machine import handle
from tarmac.core.model.gpu import Gpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.state import State
from tarmac.nodes.reports import GpuReading

JOB = JobId(1)
NAMES = [NodeName("a"), NodeName("b"), NodeName("c")]


def a_state(*, nodes: int) -> State:
    """A job runs on this many of three nodes."""
    state = State()
    for name in NAMES:
        gpu = Gpu(uuid=GpuUuid(f"gpu of {name}"), index=0, model="X", memory_total_bytes=1 << 30)
        handle(state, NodeJoined(node=name, cpu_job_slots=16, runs=()), 0.0)
        handle(state, GpusSeen(node=name, gpus=(gpu,)), 0.0)
    request = Request(gpus=1, node_count=nodes)
    spec = JobSpec(owner="a", command=("x",), shell=None, cwd="/", umask=0, environment="", request=request)
    handle(state, JobsSubmitted(specs=(spec,)), 0.0)
    return state


def read(book: UsageBook, state: State, now: float) -> None:
    for name in NAMES:
        reading = GpuReading(index=0, uuid=f"gpu of {name}", utilization=100)
        book.read(name, [reading], jobs_with_gpus(state, name), now)


def used_s(book: UsageBook) -> float:
    return book.book(JOB, 1).total(JOB).used_s


def an_end(node: NodeName) -> Event:
    end = JobExited(job=JOB, attempt=1, exit_code=0, signal=None, pid=1, started_at=0.0, ended_at=9.0)
    return Reported(node=node, report=end)


def test_a_report_counts_the_use_on_all_nodes_of_its_job() -> None:
    book, state = UsageBook(), a_state(nodes=2)
    read(book, state, 1.0)
    Settling(book, state, 9.0).before(an_end(NAMES[0]))
    assert used_s(book) == 2 * 8.0


def test_a_node_is_settled_once_in_a_turn_and_others_are_left_alone() -> None:
    book, state = UsageBook(), a_state(nodes=1)
    read(book, state, 1.0)
    settling = Settling(book, state, 9.0)
    start = JobStarted(job=JOB, attempt=1, pid=1, started_at=0.0)
    for event in (Reported(node=NAMES[0], report=start), an_end(NAMES[0])):
        settling.before(event)
    assert used_s(book) == 8.0
    assert {row.node: row.present_s for row in book.hours.rows()} == {"a": 8.0}


def test_use_is_continued_on_all_nodes_after_a_restart() -> None:
    before, state = UsageBook(), a_state(nodes=2)
    read(before, state, 1.0)
    before.settle(jobs_with_gpus(state), 3.0)
    after = UsageBook()
    after.restore(before.text(), state.jobs)
    read(after, state, 5.0)
    after.settle(jobs_with_gpus(state), 6.0)
    assert used_s(after) == 2 * 2.0 + 2 * 1.0
