"""Examples under fifo: the first job, which is wide, gets a planned start that nothing delays."""

from __future__ import annotations

from dataclasses import replace

from tarmac.core.events import GpusDrained, GpusResumed, NodeJoined
from tarmac.core.explain.reasons import Behind, KeptFor
from tarmac.core.model.gpu import Gpu, NamedGpu
from tarmac.core.model.ids import GpuUuid, JobId, NodeName
from tarmac.core.model.job import JobSpec, Request
from tarmac.core.model.plan import PlannedStart
from tarmac.core.policy.scheduling_pass import Pass
from tests.core.support.builders import BOX, a_node, a_spec
from tests.core.support.explaining import explain
from tests.core.support.scene import Scene

GIB = 2**30


def planned_start_of(scene: Scene) -> PlannedStart | None:
    """The current planned start, once nothing more can start."""
    turn = Pass(scene.state, scene.now)
    assert list(turn.run()) == []
    return turn.plans[0] if turn.plans else None


def asking(request: Request, **more: object) -> JobSpec:
    return replace(a_spec(**more), request=request)  # type: ignore[arg-type]


def a_wide_one_waits() -> Scene:
    """Four GPUs: two are booked until 1102, two are free; job 2 requests all four."""
    scene = Scene(policy="fifo", gpus=4)
    scene.submit(a_spec(gpus=2, time_limit_s=100.0))
    scene.submit(a_spec(gpus=4))
    planned = planned_start_of(scene)
    assert planned is not None
    assert (planned.job, planned.node, planned.at, len(planned.gpus)) == (2, BOX, 1101.0, 4)
    return scene


def test_a_short_job_is_backfilled_and_a_long_one_is_not() -> None:
    scene = a_wide_one_waits()
    scene.submit(a_spec(owner="bob", time_limit_s=200.0))
    assert scene.starts() == []
    scene.submit(a_spec(owner="bob", time_limit_s=60.0))
    assert [job for job, _ in scene.starts()] == [4]


def test_a_job_that_ends_exactly_in_time_is_backfilled_and_a_second_later_is_not() -> None:
    scene = a_wide_one_waits()  # the next event is at 1003, the planned at 1101
    scene.submit(a_spec(time_limit_s=98.0))
    assert scene.at_work() == [1, 3]
    scene = a_wide_one_waits()
    scene.submit(a_spec(time_limit_s=99.0))
    assert scene.at_work() == [1]


def test_a_job_without_a_known_end_is_not_backfilled() -> None:
    scene = a_wide_one_waits()
    scene.submit(a_spec(owner="bob"))
    assert scene.starts() == []
    why = explain(scene.state, scene.jobs[JobId(3)], scene.now)
    assert KeptFor(job=JobId(2), node=BOX, gpus=4, at=1101.0) in why


def test_the_wide_job_starts_as_planned_after_the_backfilled_jobs_ended() -> None:
    scene = a_wide_one_waits()
    scene.submit(a_spec(owner="bob", time_limit_s=60.0), a_spec(owner="bob", name="of any length"))
    scene.begin()
    scene.finish(3)
    assert scene.starts() == []
    scene.finish(1)
    assert scene.starts() == [(2, [0, 1, 2, 3])]


def test_the_planned_start_moves_up_when_a_job_ends_early() -> None:
    scene = Scene(policy="fifo", gpus=4)
    scene.submit(a_spec(gpus=1, time_limit_s=500.0), a_spec(gpus=2, time_limit_s=100.0))
    scene.submit(a_spec(gpus=3))
    planned = planned_start_of(scene)
    assert planned is not None
    assert planned.at == 1101.0
    scene.finish(1)
    scene.submit(a_spec(gpus=1, owner="bob", time_limit_s=90.0))
    assert scene.state_of(4) == "starting", "over before 1101"
    scene.finish(2)
    assert [job for job, _ in scene.starts()] == [3]


def test_the_plan_uses_the_earliest_ends() -> None:
    """Three GPUs become free at 300, 200 and 100, so two are free at 200."""
    scene = Scene(policy="fifo", gpus=3)
    scene.submit(*(a_spec(time_limit_s=limit) for limit in (300.0, 200.0, 100.0)))
    scene.submit(a_spec(gpus=2))
    planned = planned_start_of(scene)
    assert planned is not None
    assert (planned.at, planned.rests_on) == (1201.0, frozenset({"limit"}))
    assert {scene.state.jobs[JobId(2)].id, scene.state.jobs[JobId(3)].id} == {
        holder for gpu in planned.gpus for holder in scene.state.nodes[BOX].booked[gpu]
    }


def test_gpus_outside_the_plan_are_available_to_all() -> None:
    """The wide job requests two GPUs of a model of which one is free; it cannot use the other model."""
    scene = Scene(policy="fifo", gpus=4)
    node = scene.state.nodes[BOX]
    node.gpus = {uuid: replace(gpu, model="H100" if gpu.index < 2 else "T4") for uuid, gpu in node.gpus.items()}
    scene.submit(a_spec(time_limit_s=100.0))
    scene.submit(asking(Request(gpus=2, gpu_models=("h100",))))
    scene.submit(*[a_spec(owner="bob")] * 3)
    assert scene.starts() == [(3, [2]), (4, [3])]


def test_long_jobs_start_on_other_nodes() -> None:
    scene = Scene(policy="fifo", gpus=2)
    scene.submit(a_spec(gpus=1, time_limit_s=100.0))
    scene.submit(a_spec(gpus=2))
    scene.submit(a_spec(owner="bob"))
    assert scene.at_work() == [1]
    other = a_node(gpus=1, name="other")
    scene.state.nodes[NodeName("other")] = other
    scene.happen(NodeJoined(node=NodeName("other"), cpu_job_slots=1, runs=()))
    assert scene.at_work() == [1, 3]
    assert scene.jobs[JobId(3)].status.booking.node == "other"  # type: ignore[union-attr]


def unknown_ends(**rules: object) -> Scene:
    scene = Scene(policy="fifo", gpus=3, starvation_s=600.0, **rules)
    scene.run(a_spec(name="first"), a_spec(name="second"))
    scene.submit(a_spec(gpus=2, name="wide"))
    return scene


def test_where_nothing_is_known_narrow_jobs_start_until_the_wide_job_is_overdue() -> None:
    scene = unknown_ends()
    scene.submit(a_spec(owner="bob", name="narrow"))
    assert scene.at_work() == [1, 2, 4]
    assert planned_start_of(scene) is None, "a guess holds nothing back"
    scene.finish(4)
    scene.pass_s(600.0)
    planned = planned_start_of(scene)
    assert planned is not None
    assert (planned.job, planned.rests_on, planned.shown_at) == (3, frozenset({"guess"}), None)
    scene.submit(a_spec(owner="bob", name="of any length"))
    assert scene.starts() == []
    scene.submit(a_spec(owner="bob", time_limit_s=60.0, name="short"))
    assert [job for job, _ in scene.starts()] == [6], "what is over soon passes even an overdue job"
    scene.begin()
    scene.finish(6)
    scene.finish(1)
    assert [job for job, _ in scene.starts()] == [3]


def test_starvation_begins_exactly_at_starvation_s() -> None:
    scene = unknown_ends()
    waits_since = scene.now
    scene.now = waits_since + 598.0
    scene.submit(a_spec(owner="bob", name="narrow"))
    assert scene.at_work() == [1, 2, 4]
    scene = unknown_ends()
    scene.now = waits_since + 599.0
    scene.submit(a_spec(owner="bob", name="narrow"))
    assert scene.at_work() == [1, 2]


def test_without_backfill_no_later_job_starts_earlier() -> None:
    scene = Scene(policy="fifo", gpus=4, is_backfilling=False)
    scene.submit(a_spec(gpus=2, time_limit_s=100.0))
    scene.submit(a_spec(gpus=4), a_spec(time_limit_s=1.0, owner="bob"), a_spec(gpus=0))
    assert scene.at_work() == [1]
    assert Behind(job=JobId(2)) in explain(scene.state, scene.jobs[JobId(3)], scene.now)
    scene.finish(1)
    assert scene.at_work() == [2]


def test_without_backfill_an_impossible_job_does_not_block_others() -> None:
    scene = Scene(policy="fifo", gpus=2, is_backfilling=False)
    scene.submit(a_spec(gpus=3), a_spec())
    assert scene.at_work() == [2]


def test_without_backfill_a_job_waiting_for_a_cpu_slot_does_not_block_others() -> None:
    scene = Scene(policy="fifo", gpus=1, cpu_job_slots=1, is_backfilling=False)
    scene.submit(a_spec(gpus=0), a_spec(gpus=0), a_spec())
    assert scene.at_work() == [1, 3]


def with_history(seconds: float) -> Scene:
    """An earlier run of `train` is known, and another one has been running since 2001."""
    scene = Scene(policy="fifo", gpus=2)
    scene.run(a_spec(name="train"))
    scene.now += seconds - 1.0
    scene.finish(1)
    scene.now = 2000.0
    scene.submit(a_spec(name="train"))
    scene.begin()
    assert scene.now == 2002.0
    return scene


def test_ends_are_expected_from_earlier_runs_of_the_same_kind() -> None:
    scene = with_history(300.0)
    scene.submit(a_spec(gpus=2, name="wide"))
    planned = planned_start_of(scene)
    assert planned is not None
    assert (planned.at, planned.rests_on) == (2302.0, frozenset({"history"}))
    scene.submit(a_spec(name="train"))
    assert scene.at_work() == [2], "300 s from now are too long"


def test_a_job_that_outlives_its_history_is_expected_to_take_twice_as_long() -> None:
    scene = with_history(300.0)
    scene.submit(a_spec(gpus=2, name="wide"))
    assert planned_start_of(scene) is not None
    scene.pass_s(305.0)
    planned = planned_start_of(scene)
    assert planned is not None
    assert (planned.at, planned.rests_on, planned.shown_at) == (2602.0, frozenset({"outlived"}), None)
    scene.submit(a_spec(name="short", time_limit_s=200.0))
    assert scene.at_work() == [2, 4]


def test_the_plan_of_a_pinned_job_holds_its_gpus() -> None:
    scene = Scene(policy="fifo", gpus=3)
    scene.submit(a_spec(time_limit_s=100.0))
    pins = tuple(NamedGpu(uuid=GpuUuid(f"box-{index}"), index=index) for index in (0, 1))
    scene.submit(asking(Request(gpus=2, gpus_on=pins)))
    scene.submit(a_spec(owner="bob"), a_spec(owner="bob"))
    assert scene.starts() == [(3, [2])]
    planned = planned_start_of(scene)
    assert planned is not None
    assert planned.gpus == {"box-0", "box-1"}


def test_drained_gpus_are_not_in_a_plan() -> None:
    scene = Scene(policy="fifo", gpus=2)
    scene.submit(a_spec(time_limit_s=100.0))
    scene.happen(GpusDrained(node=BOX, gpus=(GpuUuid("box-1"),), by="root", reason="fan"))
    scene.submit(a_spec(gpus=2))
    assert planned_start_of(scene) is None
    scene.happen(GpusResumed(node=BOX, gpus=(GpuUuid("box-1"),)))
    planned = planned_start_of(scene)
    assert planned is not None
    assert planned.at == 1101.0


def test_a_job_blocked_by_a_limit_has_no_planned_start() -> None:
    scene = Scene(policy="fifo", gpus=2, max_gpus_per_job=2)
    scene.submit(a_spec(time_limit_s=100.0))
    scene.submit(a_spec(gpus=2))
    scene.set_rules(max_gpus_per_job=1)
    scene.submit(a_spec(owner="bob"))
    assert scene.at_work() == [1, 3]


def a_scene_with_sized_gpus() -> Scene:
    scene = Scene(policy="fifo", gpus=0)
    node = scene.state.nodes[BOX]
    node.gpus = {
        GpuUuid(f"box-{index}"): Gpu(uuid=GpuUuid(f"box-{index}"), index=index, memory_total_bytes=40 * GIB)
        for index in range(2)
    }
    return scene


def test_a_start_is_planned_for_a_share_of_a_gpu() -> None:
    """30G are requested: 10G are free on the first GPU until 1101, 20G on the second until an unknown end."""
    scene = a_scene_with_sized_gpus()
    scene.submit(asking(Request(gpu_memory_bytes=30 * GIB), time_limit_s=100.0))
    scene.submit(asking(Request(gpu_memory_bytes=20 * GIB), name="long"))
    assert [scene.gpus_of(job) for job in (1, 2)] == [[0], [1]]
    scene.submit(asking(Request(gpu_memory_bytes=30 * GIB), name="head"))
    planned = planned_start_of(scene)
    assert planned is not None
    assert (planned.at, planned.gpus) == (1101.0, {"box-0"})
    scene.submit(asking(Request(gpu_memory_bytes=10 * GIB), owner="bob", name="a"))
    assert scene.starts() == [(4, [1])], "what is kept is left, what is beside it taken"


def test_a_start_is_planned_for_host_memory() -> None:
    scene = Scene(policy="fifo", gpus=3)
    scene.state.nodes[BOX].memory_total_bytes = 100 * GIB
    scene.submit(asking(Request(memory_bytes=60 * GIB), time_limit_s=100.0))
    scene.submit(asking(Request(memory_bytes=80 * GIB), name="head"))
    planned = planned_start_of(scene)
    assert planned is not None
    assert (planned.at, planned.uses_host) == (1101.0, True)
    scene.submit(asking(Request(memory_bytes=30 * GIB), owner="bob", name="rival"))
    assert scene.starts() == []
    scene.submit(asking(Request(memory_bytes=30 * GIB), owner="bob", time_limit_s=50.0))
    assert [job for job, _ in scene.starts()] == [4]
    scene.submit(a_spec(owner="bob", name="no memory asked"))
    assert [job for job, _ in scene.starts()] == [5]
