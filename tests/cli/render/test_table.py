"""Tables that fit: figures are whole or left out, texts share the room."""

import pytest

from tarmac.cli.render.table import WIDEST, Column, lines
from tarmac.cli.render.text import cells, clipped, plain_cells
from tests.cli.render.test_jobs import a_job, plain, running

WIDTHS = (1, 5, 12, 20, 30, 40, 50, 59, 60, 61, 80, 100, 132, 200, 300)
BUSY = [
    running(1, 0, name="big-run", progress={"fraction": 0.42, "eta_s": 83.0}, warnings=["idle for 35 min"]),
    a_job(2, name="x" * 3000, waits_for=[1]),
    a_job(12345, name="e\u0301\u0301" * 40 + "训练" * 20, estimated_start="2027-01-16T09:30:00.000Z"),
    a_job(4, "failed", exit_code=137, command=["python", "train.py", "--lr", "0.1", "--data", "/data" * 20]),
    a_job(5, attempt=3, waits_for=list(range(1, 99, 2))),
]
FIGURES = ("42%", "1m23s", "waits for 1", "~Sat 09:30", "1m30s", "failed (exit 137)", "waits for 49 jobs", "12345")


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert all(cells(line) <= width for line in plain(BUSY, width) if width >= 5)


@pytest.mark.parametrize("width", [width for width in WIDTHS if width >= 30])
def test_a_figure_is_whole_or_its_column_is_left_out(width: int) -> None:
    head, *rows = plain(BUSY, width)
    text = "\n".join(rows)
    titles = head.split()
    for title, figures in {
        "STARTS": FIGURES[2:4],
        "DONE": FIGURES[:1],
        "LEFT": FIGURES[1:2],
        "STATE": FIGURES[5:6],
    }.items():
        assert all((figure in text) == (title in titles) for figure in figures), (title, head)
    assert "12345" in text


def test_columns_give_way_one_after_the_other() -> None:
    shown = [len(plain(BUSY, width)[0].split()) for width in WIDTHS]
    assert shown == sorted(shown)
    assert plain(BUSY, 40)[0].split()[:2] == ["ID", "STATE"]
    assert plain(BUSY, 200)[0].split() == [
        "ID", "STATE", "GPUS", "TIME", "STARTS", "DONE", "LEFT", "WARNING", "NAME", "COMMAND",
    ]  # fmt: skip


def test_a_wide_terminal_shows_whole_names() -> None:
    name = "exp-lr-0.1-warmup-1000-batch-256"
    assert name in plain([a_job(1, name=name), a_job(2, command=["x" * 500])], 120)[1]


@pytest.mark.parametrize("width", [None, 500])
def test_one_long_name_does_not_pad_every_row(width: int | None) -> None:
    rows = plain([a_job(1, name="x" * 3000), a_job(2, name="short")], width)
    assert all(len(row) < 40 + WIDEST + 20 for row in rows)


def test_texts_share_the_room() -> None:
    columns = [Column("A", ["a" * 50], least=4), Column("N", ["12345"]), Column("B", ["b" * 50])]
    assert lines(columns, 47)[1] == "a" * 18 + "…  12345  " + "b" * 18 + "…"
    columns = [Column("A", ["aa"], least=4), Column("N", ["12345"]), Column("B", ["b" * 50])]
    assert lines(columns, 31)[1] == "aa  12345  " + "b" * 19 + "…"


@pytest.mark.parametrize("width", range(12))
def test_a_line_with_colours_is_cut_by_what_is_seen(width: int) -> None:
    line = "ab\x1b[31mcd训\x1b[0m ef\x1b[1mgh\x1b[0m"
    cut = clipped(line, width)
    assert plain_cells(cut) <= max(width, 1)
    assert cut.count("\x1b[") == line.count("\x1b["), "the colour ends"
    assert clipped(line, 11) == line


@pytest.mark.parametrize(
    ("text", "width"), [("e\u0301", 1), ("训练", 4), ("🚀", 2), ("각", 2), ("가".encode().decode(), 2)]
)
def test_wide_and_combining_characters_are_counted(text: str, width: int) -> None:
    assert cells(text) == width
