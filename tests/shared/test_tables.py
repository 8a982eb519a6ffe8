"""Tables as comma-separated values: nothing in a cell runs, and numbers stay numbers."""

import csv
import io
from typing import Any

import pytest

from tarmac.shared.metric_patterns import NoValueGroup, metrics_of
from tarmac.shared.tables.cells import csv_text
from tarmac.shared.tables.history import COLUMNS, TITLES, history_csv
from tarmac.shared.tables.results import results_csv


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@sum", "'@sum"),
        ("-o file", "'-o file"),
        ("-0.5", "-0.5"),
        ("+1e3", "+1e3"),
        ("\t-1", "'\\t-1"),
        ("a\x1b[31m", "a\\x1b[31m"),
        (-3, "-3"),
        (None, ""),
    ],
)
def test_a_cell_shows_what_it_contains(value: object, cell: str) -> None:
    assert list(csv.reader(io.StringIO(csv_text([[value, "x"]])))) == [[cell, "x"]]


def test_a_command_of_the_history_cannot_run_in_a_spreadsheet() -> None:
    job: dict[str, Any] = {"id": 7, "state": "failed", "tags": ["a", "b"], "command": ["sh", "-c", "=HYPERLINK(1)"]}
    (found,) = csv.DictReader(io.StringIO(TITLES + history_csv([job])))
    assert tuple(found) == COLUMNS
    assert (found["id"], found["tags"], found["command"], found["signal"]) == ("7", "a b", "'=HYPERLINK(1)", "")


def test_results_keep_negative_numbers() -> None:
    job = {"id": 1, "name": None, "state": "succeeded", "index": None, "params": {"x": "=1"}, "metrics": {"r": -0.25}}
    assert results_csv(["r"], [job]) == "id,state,x,r\n1,succeeded,'=1,-0.25\n"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"acc=([\d.]+)", [("acc", 1)]),
        (r"val loss: (\S+)", [("val loss", 1)]),
        (r"(?P<a>\d) (?P<b>\d)", [("a", "a"), ("b", "b")]),
        (r"\d+", [(r"\d+", 0)]),
    ],
)
def test_a_pattern_names_its_metrics(pattern: str, found: list[tuple[str, object]]) -> None:
    assert metrics_of(pattern) == found


def test_a_pattern_must_say_which_part_is_the_value() -> None:
    with pytest.raises(NoValueGroup, match="acc"):
        metrics_of("acc=")
