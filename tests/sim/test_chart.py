from xml.etree import ElementTree as ET

import pytest

from tarmac.sim.axis import span_ticks
from tarmac.sim.chart import picture
from tarmac.sim.comparison import Variant, compare
from tarmac.sim.limits import ALL_LIMITS
from tests.sim.scene import WIDE_AND_NARROW, a_row, nodes, outcome_of

SVG = "{http://www.w3.org/2000/svg}"


def test_the_chart_is_well_formed_and_labelled():
    scenarios = [outcome_of(WIDE_AND_NARROW, nodes(1, 2), policy) for policy in ("fifo", "balance")]
    root = ET.fromstring(picture(scenarios, 'of "ann" & <bob>'))
    words = {text.text for text in root.iter(f"{SVG}text")}
    assert root.findtext(f"{SVG}title") == 'of "ann" & <bob>'
    assert {"fifo", "balance", "Waiting time", "Jobs that had started", "GPUs in use"} <= words
    assert {
        "time from submit to start",
        "fraction of all jobs",
        "fraction of all GPUs",
        "time since the first submit",
    } <= words
    assert "nan" not in picture(scenarios, "")


def test_bars_are_as_high_as_the_waits():
    scenarios = [outcome_of(WIDE_AND_NARROW, nodes(1, 2), is_backfilling=backfill) for backfill in (True, False)]
    root = ET.fromstring(picture(scenarios, ""))
    bars = [rect for rect in root.iter(f"{SVG}rect") if rect.get("class", "").startswith("b")]
    heights = [float(bar.get("height", 0)) for bar in bars]
    assert [bar.findtext(f"{SVG}title") for bar in bars[:2]] == ["fifo: mean 58s", "fifo, no backfill: mean 1.5m"]
    assert heights[0] / heights[1] == pytest.approx(57.5 / 92.5, abs=0.01)


@pytest.mark.parametrize("gpus", [1, 9], ids=["nobody waited", "nothing could run"])
def test_a_trace_without_data_is_still_drawn(gpus: int):
    root = ET.fromstring(picture([outcome_of([a_row(0, "ann", gpus, 10)], nodes(1, 1))], "little"))
    assert root.tag == f"{SVG}svg"
    assert "little" in [text.text for text in root.iter(f"{SVG}text")]


def test_many_long_labels_take_several_rows_within_the_chart():
    variants = [
        Variant(policy="fairshare", is_backfilling=is_backfilling, limits=limits)
        for limits in ALL_LIMITS
        for is_backfilling in (True, False)
    ]
    root = ET.fromstring(picture(compare(WIDE_AND_NARROW, nodes(1, 2), variants), "t"))
    labels = {variant.label for variant in variants}
    rights = [float(one.get("x", 0)) + 7 * len(one.text or "") for one in root.iter(f"{SVG}text") if one.text in labels]
    heads = [float(one.get("y", 0)) for one in root.iter(f"{SVG}text") if one.get("class") == "head"]
    rows = {float(one.get("y", 0)) for one in root.iter(f"{SVG}text") if one.text in labels}
    assert len(rights) == 6
    assert max(rights) <= float(root.get("width", 0))
    assert max(rows) < min(heads)


def test_the_same_figures_give_the_same_chart():
    first, again = (picture([outcome_of(WIDE_AND_NARROW, nodes(1, 2))], "t") for _ in range(2))
    assert first == again


def test_ticks_are_round_and_reach_the_longest():
    assert span_ticks(0) == [0, 1]
    assert span_ticks(50) == [0, 10, 20, 30, 40, 50]
    assert span_ticks(7000) == [0, 1800, 3600, 5400, 7200]
    assert span_ticks(1e9)[-1] >= 1e9
