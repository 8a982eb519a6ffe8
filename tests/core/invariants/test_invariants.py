"""The invariant check finds each kind of damage, in every index and cache. The other tests rely on it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

import pytest

from tarmac.core.invariants import invariants
from tarmac.core.model.gpu import BookedGpu
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.job import After, Request
from tarmac.core.model.plan import FullPass
from tarmac.core.model.status import RunName
from tarmac.core.policy.plans.earliest_start import earliest_starts, soonest_start
from tarmac.core.queue.queue import Shortest, Turn, class_key
from tarmac.core.state import State
from tests.core.support.builders import BOX, a_booking, a_job, a_node, a_state, a_status


def a_sound_state() -> State:
    running = a_job(1, status=a_status("running", a_booking(0)))
    running.spec = replace(running.spec, tier="preemptible", project="p", time_limit_s=100.0)
    running.group = JobId(1)
    computing = a_job(2, gpus=0, status=a_status("stopping", a_booking()))
    dependent, later = a_job(5), a_job(6)
    dependent.spec = replace(dependent.spec, after=(After(job=JobId(1)),))
    later.spec = replace(later.spec, begin_at=900.0, stdout="/tmp/log")
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


def _queue_a_running_job(state: State) -> None:
    state.queue.add_many([state.jobs[JobId(1)]])


def _queue_a_job_twice(state: State) -> None:
    job = state.jobs[JobId(3)]
    other = a_job(3, owner="bob")
    state.queue.add_many([other])
    assert job.id in state.queue.in_order()


def _damage_the_heap_of_a_class(state: State) -> None:
    (klass,) = state.queue.classes.values()
    klass.heap.sort(reverse=True)


def _retain_an_ended_job(state: State) -> None:
    job = state.jobs[JobId(3)]
    state.queue.remove(job)
    job.status = a_status("succeeded")


def _file_a_job_wrongly(state: State) -> None:
    state.jobs[JobId(3)] = replace(state.jobs[JobId(3)], id=JobId(9))


def _fall_behind_with_ids(state: State) -> None:
    state.next_id = 6


def _run_without_an_attempt(state: State) -> None:
    state.jobs[JobId(1)].attempt = 0


def _queue_a_blocked_job(state: State) -> None:
    job = state.blocked.pop(JobId(5))
    state.queue.add_many([job])


def _forget_dependents(state: State) -> None:
    state.dependents.clear()


def _forget_an_output(state: State) -> None:
    state.outputs.clear()


def _forget_a_timer(state: State) -> None:
    state.timers.clear()


def _damage_the_timers(state: State) -> None:
    state.timers += [(1.0, JobId(6))]


def _forget_an_array(state: State) -> None:
    state.groups.clear()


def _forget_preemptible_jobs(state: State) -> None:
    state.preemptible.clear()


def _rename_an_attempt(state: State) -> None:
    state.renamed[BOX, RunName(JobId(8), 1)] = JobId(1)


def _forget_stopping_jobs(state: State) -> None:
    state.stopping.clear()


def _lose_count_of_waiting_jobs(state: State) -> None:
    state.waiting_counts.total += 1


def _lose_count_of_an_owners_jobs(state: State) -> None:
    state.waiting_counts.of_owner["ann"] -= 1


def _count_gpus_twice(state: State) -> None:
    state.ledger.gpus_of_owner["ann"] += 1.0


def _lose_a_project(state: State) -> None:
    state.ledger.gpus_of_project.clear()


def _lose_a_use(state: State) -> None:
    del state.ledger.running[JobId(1)]


def _count_fading_gpus_twice(state: State) -> None:
    state.ledger.faded["ann"].gpus += 1.0


def _swap_classes(state: State) -> None:
    own = state.queue.owners["ann"]
    state.queue.add_many([a_job(7, gpus=2)])
    state.jobs[JobId(7)] = a_job(7, gpus=2)
    state.next_id = 8
    state.waiting_counts.add(state.jobs[JobId(7)].spec)
    own.in_order().reverse()


def _remember_a_wrong_turn(state: State) -> None:
    (klass,) = state.queue.classes.values()
    klass._turn = Turn(0, 0, 0.0, JobId(3))


def _lose_a_class_of_an_owner(state: State) -> None:
    state.queue.owners.clear()


def _lose_a_class_of_a_request(state: State) -> None:
    state.queue.requests.clear()


def _lose_a_kind(state: State) -> None:
    state.queue.kinds.clear()


def _ask_for_less_than_the_least(state: State) -> None:
    (kind,) = state.queue.kinds.values()
    kind._least = replace(kind.least(), cpus=2)


def _lose_count_of_requests(state: State) -> None:
    (kind,) = state.queue.kinds.values()
    kind.requests[Request()] += 1


def _leave_least_requests_stale(state: State) -> None:
    (group,) = state.queue.least.groups()
    group.kinds.clear()


def _take_another_job_for_the_first_in_turn(state: State) -> None:
    state.full_pass = FullPass(JobId(99), is_overdue=False, read=state.fit_cache.touched.position)


def _swap_first_jobs(state: State) -> None:
    (klass,) = state.queue.classes.values()
    klass.first_jobs().reverse()


def _remember_a_wrong_length(state: State) -> None:
    (klass,) = state.queue.classes.values()
    klass.shortest = Shortest(0, 1.0, 1.0)


def _remember_a_wrong_limit(state: State) -> None:
    (klass,) = state.queue.classes.values()
    klass.first_limits_s = [1.0, 1.0]


def _lose_count_of_wide_classes(state: State) -> None:
    state.queue.owners["ann"].wide += 1


def _change_a_rank_behind_the_queues_back(state: State) -> None:
    state.jobs[JobId(3)].position = 99.0


def _forget_a_moved_job(state: State) -> None:
    state.put(state.jobs[JobId(3)], 0.5)
    state.queue.moved.spots.clear()


def _file_a_job_under_a_length_that_it_cannot_have(state: State) -> None:
    state.queue.by_run[JobId(1)] = class_key(state.jobs[JobId(1)])


def _stick_a_running_job(state: State) -> None:
    state.stuck_since[JobId(1)] = 1.0


def _lose_a_project_of_waiting_jobs(state: State) -> None:
    state.waiting_counts.of_project["p"] += 1


def _lose_jobs_of_an_owner_at_work(state: State) -> None:
    state.ledger.jobs_of_owner.clear()


def _lose_jobs_of_a_project_at_work(state: State) -> None:
    state.ledger.jobs_of_project.clear()


def _owe_hours(state: State) -> None:
    state.ledger.hours_of_owner["ann"] = {7: -1.0}


def _count_hours_for_a_project_only(state: State) -> None:
    state.ledger.hours_of_project["p"] = {7: 60.0}


def _fade_below_nothing(state: State) -> None:
    state.ledger.faded["ann"].gpu_s = -1.0


def _learn_a_negative_runtime(state: State) -> None:
    state.runtimes.recent_s["ann", "train"] = deque([-1.0])


def _note_the_progress_of_a_stopping_job(state: State) -> None:
    state.runtimes.ends_by_progress[JobId(2)] = 900.0


def _note_the_progress_of_a_job_that_is_gone(state: State) -> None:
    state.runtimes.ends_by_progress[JobId(99)] = 900.0


def _give_a_live_job_an_outcome(state: State) -> None:
    state.outcomes[JobId(3)] = "ok"


def _lose_booked_parts(state: State) -> None:
    state.nodes[BOX].booked_parts[GpuUuid("box-0")] = {(JobId(1), GpuUuid("part"))}


def _leave_a_fit_stale(state: State) -> None:
    assert state.fit_cache.fits_somewhere(state.nodes, Request(gpus=1), state.rules)
    state.nodes[BOX].gpus.clear()  # without a touch


def _reorder_fits(state: State) -> None:
    assert state.fit_cache.fits_somewhere(state.nodes, Request(gpus=1), state.rules)
    state.fit_cache.fits[Request(gpus=1)].by_usable = {9: [1, 0]}


def _keep_a_number_of_gpus_that_no_node_has(state: State) -> None:
    state.fit_cache.fits_of(state.nodes, Request(gpus=1), state.rules).by_usable[9] = []


def _leave_an_earliest_start_stale(state: State) -> None:
    assert earliest_starts(state, a_job(9, gpus=2), state.now)[BOX].at is not None
    state.nodes[BOX].is_connected = False  # without a touch


def _leave_availability_stale(state: State) -> None:
    earliest_starts(state, a_job(9, gpus=2), state.now)
    assert state.fit_cache.starts.availability.get(BOX)
    state.nodes[BOX].booked.clear()  # without a touch


def _leave_an_end_stale(state: State) -> None:
    soonest_start(state, a_job(9, gpus=2), state.now)
    job = state.jobs[JobId(1)]
    job.spec = replace(job.spec, time_limit_s=200.0)  # without a touch


def _reorder_nodes(state: State) -> None:
    soonest_start(state, a_job(9, gpus=2), state.now)
    state.fit_cache.starts.orders[Request(gpus=2)].order.append((-1.0, 0))


def _leave_an_order_stale(state: State) -> None:
    soonest_start(state, a_job(9, gpus=2), state.now)
    state.fit_cache.starts.orders[Request(gpus=2)].put(0, 5.0)


def _leave_suitability_stale(state: State) -> None:
    job = a_job(9)
    job.spec = replace(job.spec, request=Request(gpu_models=("a100",)))
    earliest_starts(state, job, state.now)
    (known,) = state.fit_cache.starts.alike.values()
    for kind in known:
        known[kind] = not known[kind]


def _leave_a_count_of_gpus_stale(state: State) -> None:
    state.fit_cache.gpu_count(state.nodes)
    state.nodes[BOX].gpus.clear()


def _miscount_gpus(state: State) -> None:
    state.fit_cache.gpu_count(state.nodes)
    state.fit_cache.gpus.total += 1


def _leave_a_range_of_runtimes_stale(state: State) -> None:
    state.runtimes.usual_and_longest_s(state.jobs[JobId(3)].spec)
    state.runtimes.recent_s_of_width["ann", 1] = deque([60.0])


DAMAGE = {
    _book_a_free_gpu: "bookings of nodes",
    _free_a_booked_gpu: "bookings of nodes",
    _hand_a_gpu_to_two: "GPU box-0 on box is booked whole and by others too",
    _free_a_taken_slot: "what nodes hold for jobs",
    _lose_booked_parts: "booked parts of GPUs",
    _forget_a_waiting_job: "is not what waits",
    _queue_a_running_job: "is not what waits",
    _queue_a_job_twice: "is twice in the queue",
    _damage_the_heap_of_a_class: "the heap of class ann",
    _remember_a_wrong_turn: "the head of class ann",
    _swap_classes: "the classes of ann stand",
    _lose_a_class_of_an_owner: "classes by owner",
    _lose_a_class_of_a_request: "classes by request",
    _lose_a_kind: "classes by kind",
    _ask_for_less_than_the_least: "is thought to be the least",
    _lose_count_of_requests: "requests of",
    _leave_least_requests_stale: "least requests are",
    _take_another_job_for_the_first_in_turn: "is thought to be full for job 99",
    _swap_first_jobs: "the first jobs of ann",
    _remember_a_wrong_length: "the shortest jobs of ann",
    _remember_a_wrong_limit: "the limits of ann's first jobs",
    _lose_count_of_wide_classes: "classes of ann are thought to be wide",
    _leave_a_count_of_gpus_stale: "nodes are thought to have",
    _miscount_gpus: "nodes are thought to have",
    _leave_a_range_of_runtimes_stale: "are thought to take",
    _change_a_rank_behind_the_queues_back: "classes of the queue",
    _forget_a_moved_job: "moved jobs are",
    _file_a_job_under_a_length_that_it_cannot_have: "the class of job 1",
    _retain_an_ended_job: "has ended and is still here",
    _file_a_job_wrongly: "is filed under 3",
    _fall_behind_with_ids: "is not below 6",
    _run_without_an_attempt: "runs without an attempt",
    _queue_a_blocked_job: "blocked are",
    _stick_a_running_job: "is stuck, but not in the queue",
    _forget_dependents: "dependents are",
    _forget_an_output: "outputs are",
    _forget_a_timer: "nothing wakes job 6",
    _damage_the_timers: "timers are not a heap",
    _forget_an_array: "arrays at work",
    _forget_preemptible_jobs: "preemptible are",
    _forget_stopping_jobs: "stopping are",
    _rename_an_attempt: "renamed attempts are",
    _lose_count_of_waiting_jobs: "jobs that wait",
    _lose_count_of_an_owners_jobs: "waiting jobs of owners",
    _lose_a_project_of_waiting_jobs: "waiting jobs of projects",
    _count_gpus_twice: "GPUs of owners",
    _lose_a_project: "GPUs of projects",
    _lose_a_use: "GPUs of jobs in the ledger",
    _lose_jobs_of_an_owner_at_work: "jobs at work",
    _lose_jobs_of_a_project_at_work: "jobs at work",
    _count_fading_gpus_twice: "GPUs that add to faded hours",
    _owe_hours: "negative GPU-seconds",
    _count_hours_for_a_project_only: "projects had 60.0 GPU-seconds",
    _fade_below_nothing: "faded GPU-seconds of ann",
    _learn_a_negative_runtime: "runtimes of",
    _note_the_progress_of_a_stopping_job: "job 2 has an end by its progress",
    _note_the_progress_of_a_job_that_is_gone: "job 99 has an end by its progress",
    _give_a_live_job_an_outcome: "lives and has an outcome",
    _leave_a_fit_stale: "is thought to fit",
    _reorder_fits: "is tried on nodes",
    _keep_a_number_of_gpus_that_no_node_has: "is tried on nodes",
    _leave_an_earliest_start_stale: "is thought to start",
    _leave_availability_stale: "are thought to be available",
    _leave_an_end_stale: "are thought to end",
    _reorder_nodes: "are in the order",
    _leave_an_order_stale: "is thought to start on box at 5.0",
    _leave_suitability_stale: "is thought to suit",
}


def test_a_sound_state_has_no_violations() -> None:
    assert invariants.violations(a_sound_state()) == []


@pytest.mark.parametrize(("damage", "finding"), DAMAGE.items(), ids=lambda value: getattr(value, "__name__", value))
def test_each_kind_of_damage_is_found(damage: Callable[[State], None], finding: str) -> None:
    state = a_sound_state()
    damage(state)
    assert any(finding in line for line in invariants.violations(state))


def snapshot(state: State) -> object:
    """What the cache holds about nodes."""
    starts = state.fit_cache.starts
    by_request = {request: list(known.items()) for request, known in starts.by_request.items()}
    orders = {request: (order.read, list(order.order)) for request, order in starts.orders.items()}
    position = state.fit_cache.touched.position
    return list(starts.availability.items()), list(starts.ends.items()), by_request, orders, position


def test_the_check_does_not_change_the_cache() -> None:
    state = a_sound_state()
    earliest_starts(state, a_job(9, gpus=2), state.now)
    soonest_start(state, a_job(9, gpus=2), state.now)
    state.touch(state.nodes[BOX])
    before = snapshot(state)
    invariants.violations(state)
    assert snapshot(state) == before
