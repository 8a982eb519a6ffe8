"""The consistency check finds each kind of damage. The other tests lean on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tarmac.core import invariants
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import After, Request
from tarmac.core.state import State
from tests.core.support.builders import BOX, a_booking, a_job, a_node, a_state, a_status


def a_sound_state() -> State:
    running = a_job(1, status=a_status("running", a_booking(0)))
    running.spec = replace(running.spec, tier="preemptible", project="p")
    running.group = JobId(1)
    computing = a_job(2, gpus=0, status=a_status("stopping", a_booking()))
    dependent, later = a_job(5), a_job(6)
    dependent.spec = replace(dependent.spec, after=(After(job=JobId(1)),))
    later.spec = replace(later.spec, begin_at=900.0)
    return a_state(a_node(gpus=2), jobs=(running, computing, a_job(3), a_job(4, priority=1), dependent, later))


def _book_a_free_gpu(state: State) -> None:
    state.nodes[BOX].booked[GpuUuid("box-1")] = {JobId(3): BookedGpu(uuid=GpuUuid("box-1"), index=1)}


def _free_a_booked_gpu(state: State) -> None:
    state.nodes[BOX].booked.clear()


def _hand_a_gpu_to_two(state: State) -> None:
    second = state.jobs[JobId(2)]
    second.status = a_status("running", a_booking(0))
    state.nodes[BOX].booked[GpuUuid("box-0")][JobId(2)] = BookedGpu(uuid=GpuUuid("box-0"), index=0)


def _free_a_taken_slot(state: State) -> None:
    state.nodes[BOX].host.clear()


def _forget_a_waiting_job(state: State) -> None:
    state.queue.remove(state.jobs[JobId(3)])


def _line_up_a_running_job(state: State) -> None:
    state.queue.add_many([state.jobs[JobId(1)]])


def _line_up_twice(state: State) -> None:
    job = state.jobs[JobId(3)]
    other = a_job(3, owner="bob")
    state.queue.add_many([other])
    assert job.id in state.queue.in_order()


def _spoil_the_heap(state: State) -> None:
    (klass,) = state.queue.classes.values()
    klass.heap.sort(reverse=True)


def _keep_an_ended_job(state: State) -> None:
    job = state.jobs[JobId(3)]
    state.queue.remove(job)
    job.status = a_status("succeeded")


def _file_a_job_wrongly(state: State) -> None:
    state.jobs[JobId(3)] = replace(state.jobs[JobId(3)], id=JobId(9))


def _fall_behind_with_ids(state: State) -> None:
    state.next_id = 6


def _run_without_an_attempt(state: State) -> None:
    state.jobs[JobId(1)].attempt = 0


def _line_up_what_waits_for_another(state: State) -> None:
    job = state.blocked.pop(JobId(5))
    state.queue.add_many([job])


def _forget_who_waits(state: State) -> None:
    state.dependents.clear()


def _forget_the_time(state: State) -> None:
    state.timers.clear()


def _spoil_the_timers(state: State) -> None:
    state.timers += [(1.0, JobId(6))]


def _forget_an_array(state: State) -> None:
    state.groups.clear()


def _forget_who_may_leave(state: State) -> None:
    state.preemptible.clear()


def _forget_who_leaves(state: State) -> None:
    state.stopping.clear()


def _lose_count_of_the_line(state: State) -> None:
    state.waiting_counts.total += 1


def _lose_count_of_an_owners_line(state: State) -> None:
    state.waiting_counts.of_owner["ann"] -= 1


def _count_gpus_twice(state: State) -> None:
    state.ledger.gpus_of_owner["ann"] += 1.0


def _lose_a_project(state: State) -> None:
    state.ledger.gpus_of_project.clear()


def _lose_a_use(state: State) -> None:
    del state.ledger.running[JobId(1)]


def _go_on_fading(state: State) -> None:
    state.ledger.faded["ann"].gpus += 1.0


def _keep_a_stale_fit(state: State) -> None:
    """A change of a node that nobody was told of."""
    assert state.fit_cache.fits_somewhere(state.nodes, Request(gpus=1), state.rules)
    state.nodes[BOX].gpus.clear()


DAMAGE = {
    _book_a_free_gpu: "bookings of nodes",
    _free_a_booked_gpu: "bookings of nodes",
    _hand_a_gpu_to_two: "GPU box-0 on box is booked whole and by others too",
    _free_a_taken_slot: "what nodes hold for jobs",
    _forget_a_waiting_job: "is not what waits",
    _line_up_a_running_job: "is not what waits",
    _line_up_twice: "stands twice",
    _spoil_the_heap: "the head of class ann",
    _keep_an_ended_job: "has ended and is still here",
    _file_a_job_wrongly: "is filed under 3",
    _fall_behind_with_ids: "is not below 6",
    _run_without_an_attempt: "runs without an attempt",
    _line_up_what_waits_for_another: "aside stand",
    _forget_who_waits: "who waits for whom",
    _forget_the_time: "nothing wakes job 6",
    _spoil_the_timers: "timers are no heap",
    _forget_an_array: "arrays at work",
    _forget_who_may_leave: "to be asked to leave",
    _forget_who_leaves: "leaving are",
    _lose_count_of_the_line: "jobs that wait",
    _lose_count_of_an_owners_line: "waiting jobs of owners",
    _count_gpus_twice: "GPUs of owners",
    _lose_a_project: "GPUs of projects",
    _lose_a_use: "GPUs of jobs in the ledger",
    _go_on_fading: "GPUs that add to faded hours",
    _keep_a_stale_fit: "is thought to fit",
}


def test_a_sound_state_has_nothing_to_say() -> None:
    assert invariants.violations(a_sound_state()) == []


@pytest.mark.parametrize(("damage", "said"), DAMAGE.items(), ids=lambda value: getattr(value, "__name__", value))
def test_each_kind_of_damage_is_found(damage: Callable[[State], None], said: str) -> None:
    state = a_sound_state()
    damage(state)
    assert any(said in sentence for sentence in invariants.violations(state))
