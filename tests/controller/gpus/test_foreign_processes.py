import pytest

from tarmac.api.wording.foreign_processes import foreign_process_words
from tarmac.controller.gpus.foreign_processes import memory_of_jobs, use_of
from tarmac.controller.settings.settings import Settings
from tarmac.core.model.gpu import GpuUse
from tarmac.nodes.reports import GpuProcess, GpuReading

G = 2**30
SETTINGS = Settings({}, {})


def a_process(pid: int = 42, **more: object) -> GpuProcess:
    told: dict[str, object] = {"user": "bob", "command": "python train.py", "memory_bytes": 8 * G}
    return GpuProcess(pid=pid, **(told | more))  # type: ignore[arg-type]


def a_reading(*processes: GpuProcess, used_g: int = 10) -> GpuReading:
    return GpuReading(
        index=0,
        uuid="g0",
        memory_total_bytes=24 * G,
        memory_used_bytes=used_g * G,
        utilization=50,
        processes=list(processes),
    )


def pids(use: GpuUse) -> list[int]:
    return [process.pid for process in use.foreign_processes]


def test_a_foreign_process_is_named_with_its_user_command_and_age() -> None:
    use = use_of(a_reading(a_process(started_at=1000.0)), SETTINGS, {}, {})
    assert (
        foreign_process_words(use.foreign_processes, 1000.0 + 3 * 3600 + 5) == "pid 42 of bob (python train.py) for 3 h"
    )
    assert (use.outside_bytes, pids(use), use.load) == (8 * G, [42], 0.5)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "0 s"), (59.9, "59 s"), (150, "2 min"), (7200, "2 h"), (2e5, "2 d 7 h")],
)
def test_the_age_of_a_process_is_the_age_at_this_moment(seconds: float, said: str) -> None:
    use = use_of(a_reading(a_process(started_at=1000.0)), SETTINGS, {}, {})
    assert foreign_process_words(use.foreign_processes, 1000.0 + seconds).endswith(f" for {said}")


def test_processes_of_ended_jobs_are_foreign_and_those_of_live_jobs_are_not() -> None:
    ours, leftover = a_process(1, job=7), a_process(2, job=6)
    assert pids(use_of(a_reading(ours, leftover), SETTINGS, {}, {7})) == [2]


def test_a_process_of_a_job_without_a_booking_of_the_gpu_is_foreign_and_its_job_is_named() -> None:
    use = use_of(a_reading(a_process(1, job=7, started_at=None)), SETTINGS, {}, {8})
    assert use.outside_bytes == 8 * G
    assert foreign_process_words(use.foreign_processes, 0.0) == "pid 1 of bob, job 7 (python train.py)"


@pytest.mark.parametrize(
    "process",
    [
        a_process(command="/usr/lib/xorg/Xorg vt1"),
        a_process(command="kwin_wayland --foo"),
        a_process(memory_bytes=10 * 2**20),
        a_process(99),
    ],
)
def test_display_servers_small_processes_and_ignored_ones_are_not_foreign(process: GpuProcess) -> None:
    assert not pids(use_of(a_reading(process), SETTINGS, {99: 5}, {}))


def test_a_process_of_unknown_memory_counts_for_the_rest_of_the_used_memory() -> None:
    reading = a_reading(a_process(1, memory_bytes=None), a_process(2, job=7, memory_bytes=3 * G), used_g=10)
    assert use_of(reading, SETTINGS, {}, {7}).outside_bytes == 7 * G


def test_a_long_list_of_processes_is_shortened() -> None:
    others = [a_process(pid, command=None, user=None) for pid in range(1, 6)]
    use = use_of(a_reading(*others), SETTINGS, {}, {})
    assert foreign_process_words(use.foreign_processes, 0.0) == (
        "pid 1 of an unknown user; pid 2 of an unknown user; pid 3 of an unknown user; and 2 more"
    )


def test_the_memory_of_a_job_is_the_sum_of_its_processes_on_the_gpu() -> None:
    reading = a_reading(a_process(1, job=7), a_process(2, job=7), a_process(3))
    assert memory_of_jobs([reading]) == ((7, "g0", 16 * G),)


def test_a_later_process_with_an_ignored_pid_is_not_ignored() -> None:
    later = GpuProcess(pid=99, command="python train.py", memory_bytes=G, start_time=6)
    assert pids(use_of(a_reading(later), SETTINGS, {99: 5}, {})) == [99]
