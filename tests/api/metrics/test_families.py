"""The names of metrics follow Prometheus, and the dashboard of Grafana uses only those that exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tarmac.api.metrics.families import FAMILIES

ROOT = Path(__file__).parents[3]
DASHBOARD = ROOT / "contrib" / "grafana" / "tarmac.json"
UNITS = ("seconds", "bytes", "joules", "ratio", "celsius", "watts", "info")
COUNTS = {"jobs", "jobs_submitted", "jobs_ended", "gpu_foreign_processes", "notifications"}  # without a unit
FLAGS = {"writable", "node_up", "queue_paused", "queue_draining", "owner_suspended", "gpu_drained"}  # 0 or 1
LABELS = {"owner", "state", "reason", "kind", "project", "node", "gpu", "uuid", "model", "version", "le"}
WORD = re.compile(r"tarmac_\w+")
GROUPED = re.compile(r"\b(?:by|on|without|group_left)\s*\(([^)]*)\)")
MATCHED = re.compile(r"{([^}]*)}")


def served() -> set[str]:
    """The names of all samples."""
    histograms = {one.name for one in FAMILIES if one.kind == "histogram"}
    names = {one.name for one in FAMILIES} - histograms
    return names | {name + suffix for name in histograms for suffix in ("_bucket", "_sum", "_count")}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_name_has_our_prefix_a_base_unit_and_the_suffix_of_its_kind(family: Any) -> None:
    assert re.fullmatch(r"tarmac(_[a-z]+)+", family.name)
    assert family.name.endswith("_total") == (family.kind == "counter")
    plain = family.name.removeprefix("tarmac_").removesuffix("_total")
    assert plain.rpartition("_")[2] in UNITS or plain in COUNTS | FLAGS
    assert re.fullmatch(r"[A-Z0-9].*\.", family.help), "a sentence"


def test_names_are_unique() -> None:
    assert len({one.name for one in FAMILIES}) == len(FAMILIES)


def expressions(value: Any) -> list[str]:
    """What the dashboard asks Prometheus for: in panels and in variables."""
    if isinstance(value, list):
        return [found for one in value for found in expressions(one)]
    if not isinstance(value, dict):
        return []
    own = [value[key] for key in ("expr", "query", "definition") if isinstance(value.get(key), str)]
    return own + [found for one in value.values() for found in expressions(one)]


def dashboard() -> Any:
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))


def test_every_metric_of_the_dashboard_exists() -> None:
    used = {name for text in expressions(dashboard()) for name in WORD.findall(text)}
    assert len(used) > 12
    assert used <= served()


def test_every_label_of_the_dashboard_exists() -> None:
    texts = expressions(dashboard())
    grouped = {name.strip() for text in texts for group in GROUPED.findall(text) for name in group.split(",")}
    matched = {
        re.split(r"[=!~]", one.strip())[0]
        for text in texts
        for group in MATCHED.findall(text)
        for one in group.split(",")
    }
    legends = {
        name
        for panel in dashboard()["panels"]
        for one in panel["targets"]
        for name in re.findall(r"{{(\w+)}}", one["legendFormat"])
    }
    assert grouped | matched | legends <= LABELS
    assert grouped
    assert matched


def test_the_dashboard_can_be_imported() -> None:
    found = dashboard()
    ids = [panel["id"] for panel in found["panels"]]
    assert len(ids) == len(set(ids))
    names = [variable["name"] for variable in found["templating"]["list"]]
    assert names == ["datasource", "node"]
    assert {panel["datasource"]["uid"] for panel in found["panels"]} == {"${datasource}"}
    for panel in found["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        assert panel["title"]


def test_every_metric_is_documented_and_no_other() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(tarmac_\w+)` \| (\w+) \| [^|]* \| (.*) \|$", page, re.MULTILINE)
    assert {name: (kind, meaning) for name, kind, meaning in rows} == {
        one.name: (one.kind, one.help.removesuffix(".")) for one in FAMILIES
    }
