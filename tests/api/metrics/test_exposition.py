"""The text format, read back by the library of Prometheus."""

from __future__ import annotations

from math import inf

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tarmac.api.metrics.exposition import Sample, bound_text, family_text


@pytest.mark.parametrize("value", ["plain", 'say "hi"', "a\\b", "two\nlines", "\\n", "\\", '\\"', "日本", "{}=,", " "])
def test_any_text_may_be_a_label(value: str) -> None:
    text = family_text("x", "gauge", "help", [Sample(1, {"a": value, "b": "after"})])
    assert len(text.splitlines()) == 3
    (family,) = text_string_to_metric_families(text)
    assert family.samples[0].labels == {"a": value, "b": "after"}


def test_help_is_one_line() -> None:
    text = family_text("x", "gauge", "two\nlines \\ here", [])
    assert text == "# HELP x two\\nlines \\\\ here\n# TYPE x gauge\n"


@pytest.mark.parametrize(
    ("value", "written"), [(0, "0"), (True, "1"), (1.0, "1"), (0.1, "0.1"), (inf, "+Inf"), (1e18, "1" + "0" * 18)]
)
def test_numbers_are_written_exactly(value: float, written: str) -> None:
    assert family_text("x", "gauge", "help", [Sample(value)]).splitlines()[-1] == f"x {written}"


def test_bounds_of_buckets() -> None:
    assert [bound_text(bound) for bound in (1, 0.5, 86400, inf)] == ["1", "0.5", "86400", "+Inf"]
