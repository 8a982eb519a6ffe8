import json
import re
from pathlib import Path

import pytest

from tarmac.cli.main import run_line
from tarmac.cli.render.gpus.gpu import bar, notes_of
from tarmac.cli.render.gpus.gpu_grid import grid
from tarmac.cli.render.gpus.gpus import summary, table
from tarmac.cli.render.text import cells
from tarmac.cli.term.live import head_line
from tarmac.client.records import Gpu
from tests.cli.render.gpus.gpu_records import NOW, G, a_busy_server, a_gpu, a_process
from tests.cli.stub import answer, serving


def plain(gpus: list[dict[str, object]], width: int | None = None) -> list[str]:
    return table(gpus, width=width, has_colours=False, now=NOW)


def notes(**fields: object) -> list[str]:
    return [words for _, words in notes_of(a_gpu(**fields), NOW)]


def test_an_idle_server_needs_few_columns() -> None:
    assert plain([a_gpu(0, power_w=None), a_gpu(1, power_w=None, jobs=[3, 4, 5], memory_used_bytes=40 * G)]) == [
        "GPU  MODEL           MEMORY                  UTIL  TEMP  JOBS",
        "  0  A100-SXM4-80GB  ··········    0B/80.0G    0%  31°C  -",
        "  1  A100-SXM4-80GB  █████····· 40.0G/80.0G    0%  31°C  3-5",
    ]


def test_a_column_appears_if_any_gpu_has_a_value() -> None:
    head = plain(a_busy_server())[0]
    assert head.split() == ["GPU", "MODEL", "MEMORY", "BOOKED", "UTIL", "TEMP", "POWER", "SLOTS", "JOBS", "NOTES"]


@pytest.mark.parametrize(
    ("used", "booked", "shown"),
    [
        (0, 0, "··········"),
        (1, 0, "██████████"),
        (2, 3, "██████████"),
        (0.25, 0, "██▌·······"),
        (0.25, 0.5, "██▌░░·····"),
        (0.5, 0.25, "█████·····"),
        (0, 1, "░░░░░░░░░░"),
    ],
)
def test_the_bar_shows_what_is_booked_beyond_what_is_used(used: float, booked: float, shown: str) -> None:
    assert bar(used, booked) == shown


def test_a_reservation_is_shown() -> None:
    reserved = {"id": 1, "owner": "ann", "begins_at": "2026-01-01T08:00:00.000Z", "ends_at": "2027-01-15T22:00:00.000Z"}
    (now,) = notes(reserved={**reserved, "active": True})
    assert re.fullmatch(r"reserved for ann until .*\d\d:\d\d", now)
    (later,) = notes(reserved={**reserved, "begins_at": "2027-01-15T21:00:00.000Z", "active": False})
    assert re.fullmatch(r"reserved for ann from .* until .*\d\d:\d\d", later)
    assert notes(reserved=None) == []


def test_the_holder_of_a_gpu_is_shown_once() -> None:
    held = "held by pid 4242 of bob (python train.py) for 3 h"
    assert notes(
        held=held, processes=[a_process(4242, holds_gpu=True), a_process(4243, started_at=None, memory_bytes=None)]
    ) == [
        held,
        "bob: python train.py (pid 4243)",
    ]


def test_a_process_has_owner_memory_and_age_and_is_marked_if_it_does_not_count() -> None:
    assert notes(processes=[a_process(9, user=None, ignored=True)]) == [
        "?: python train.py (pid 9, 30.0G, for 3h00m, ignored)"
    ]


def test_processes_of_jobs_are_not_shown_and_many_foreign_ones_are_counted() -> None:
    crowd = [a_process(pid) for pid in range(5)]
    assert notes(processes=[a_process(job=7)]) == []
    assert notes(processes=crowd)[-1] == "and 2 more processes"


def test_notes_say_why_a_gpu_is_not_used() -> None:
    assert notes(drained=True) == ["drained"]
    assert notes(drained=True, drained_by="ann") == ["drained by ann"]
    assert notes(health="vanished", drained=True, drained_by="ann")[-1] == "drained by ann"
    assert notes(drained=True, drained_by="ann", reason="new fan") == ["drained: new fan"]
    assert notes(drained=True, drained_by="ann", reason="drained for repair") == ["drained: drained for repair"]
    assert notes(health="vanished", drained=True, reason="vanished") == ["unhealthy: vanished"]
    assert notes(health="vanished", drained=True, reason="new fan") == ["unhealthy: vanished", "drained: new fan"]


def test_idle_and_overbooked_jobs_are_named(socket: Path, capfd: pytest.CaptureFixture[str]) -> None:
    idle = a_gpu(0, jobs=[7], warnings=["job 7: idle for 35 min"])
    gpus = json.dumps({"gpus": [idle.raw, a_gpu(1).raw], "error": None}).encode()
    with serving(socket, answer(gpus)):
        assert run_line(["gpus"]) == 0
    assert capfd.readouterr().out.splitlines()[1].endswith("7     job 7: idle for 35 min")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("has_colours", [False, True])
def test_no_line_is_wider_than_the_terminal(width: int, has_colours: bool) -> None:
    gpus = [*a_busy_server(), a_gpu(8, model="数" * 40, held="held by " + "x" * 300, jobs=list(range(0, 90, 2)))]
    for rows in (
        table(gpus, width=width, has_colours=has_colours, now=NOW),
        grid(gpus, width=width, lines=4, has_colours=has_colours, now=NOW),
        grid(gpus, width=width, lines=99, has_colours=has_colours, now=NOW),
    ):
        assert all(cells(without_colours(line)) <= width for line in rows)


def without_colours(line: str) -> str:
    for code in ("0", "1", "2", "31", "32", "33", "35", "1;31"):
        line = line.replace(f"\x1b[{code}m", "")
    return line


@pytest.mark.parametrize("width", [80, 200])
def test_colours_do_not_change_the_layout(width: int) -> None:
    coloured = table(a_busy_server(), width=width, has_colours=True, now=NOW)
    assert [without_colours(line).rstrip() for line in coloured] == plain(a_busy_server(), width)


def test_notes_are_beside_a_row_if_they_fit_and_below_otherwise() -> None:
    assert len(plain(a_busy_server(), 200)) == len(plain(a_busy_server())) == 9
    narrow = plain(a_busy_server(), 80)
    assert "     held by pid 4242 of bob (python train.py) for 3 h" in narrow
    assert len(narrow) > 9


def test_gpus_are_grouped_by_node() -> None:
    rows = plain([a_gpu(0, node="beta"), a_gpu(1, node="alpha"), a_gpu(0, node="alpha")])
    assert [row.split()[0] for row in rows] == ["GPU", "alpha", "0", "1", "beta", "0"]


def test_many_gpus_are_shown_in_a_grid() -> None:
    many = [a_gpu(index, jobs=[index] if index % 2 else []) for index in range(64)]
    model, *rows = grid(many, width=80, lines=23, has_colours=False, now=NOW)
    assert (model, len(rows)) == ("A100-SXM4-80GB", 22)
    assert " ".join(rows[1].split()) == "1 ···· 0% 31° 1 23 ···· 0% 31° 23 45 ···· 0% 31° 45"


def crowded(width: int, lines: int) -> list[str]:
    """Eight GPUs of every kind; the job on the second is idle."""
    servers = [Gpu({**gpu.raw, "index": 8 * turn + (gpu.index or 0)}) for turn in range(8) for gpu in a_busy_server()]
    servers[1].warnings = ["job 8: idle for 35 min"]
    return grid(servers, width=width, lines=lines, has_colours=False, now=NOW)


def test_the_narrowest_cell_shows_jobs_and_problems() -> None:
    rows = crowded(80, 20)
    assert rows[0] == "A100-SXM4-80GB"
    assert "A100-SXM4-80GB MIG 1g.10gb" in rows
    assert [row[:25].rstrip() for row in rows[1:6]] == [
        "  0 ███·  97% 71° 7",
        "  1 ▌░··  40% 31° idle 8…",
        "  2 █▌··  55% 31° bob",
        "  3 ····   0% 31° drained",
        "  4 ····   0% 31° unheal…",
    ]


def test_a_wide_terminal_is_used_for_models_memory_and_notes() -> None:
    rows = crowded(200, 49)
    assert len(rows) == 32
    assert rows[1].startswith(
        "  1 A100-SXM4-80GB       █▏░░░·····  9.0G/80.0G  40% 31° 8-9,11; job 8: idle for 35 min "
    )
    assert "held by pid 4242 of bob" in rows[2]
    assert "drained: fan is replaced on Monday" in rows[3]


def test_each_gpu_has_one_line_if_there_are_enough_lines() -> None:
    assert len(crowded(80, 64)) == 64


def test_the_temperature_is_omitted_if_no_gpu_reports_it() -> None:
    rows = grid([a_gpu(index, temperature=None) for index in range(64)], width=80, lines=23, has_colours=False)
    assert rows[1].split()[:4] == ["0", "····", "0%", "-"]
    assert rows[1].split()[4] == "22"


@pytest.mark.parametrize(
    ("columns", "shown"),
    [(60, "8 GPUs, 2 with jobs · 12:00:00 · q ends"), (35, "8 GPUs, 2 with jobs · 12:00:00"), (12, "8 GPUs, 2 w…")],
)
def test_the_head_line_shrinks_to_the_summary(columns: int, shown: str) -> None:
    assert head_line("8 GPUs, 2 with jobs", "12:00:00", columns) == shown


def test_the_summary_counts_usable_gpus() -> None:
    assert summary(a_busy_server()) == "8 GPUs, 2 with jobs, 1 held by others, 3 drained or unhealthy"
    assert summary([a_gpu()]) == "1 GPU, 0 with jobs"


def test_control_characters_in_gpu_data_are_escaped() -> None:
    nasty = a_gpu(model="a\x1b[2J", reason="\x07", drained=True, processes=[a_process(command="x\n\x1b]0;y")])
    for rows in (plain([nasty]), plain([nasty], 80), plain([nasty, a_gpu(node="\x1b[2J")], 80)):
        assert all(line.isprintable() for line in rows)


def test_a_gpu_without_an_index_is_last_with_its_uuid() -> None:
    gone = Gpu({**a_gpu(uuid="GPU-gone", health="vanished from the driver").raw, "index": None})
    rows = plain([gone, a_gpu(0)])
    assert [row.split()[0] for row in rows] == ["GPU", "0", "-"]
    assert "GPU-gone; " in rows[2]
    assert "None" not in "".join(grid([gone, a_gpu(0)], width=80, lines=10, has_colours=False))
