"""The client's records have the fields that the API serves, and no others; and the API serves them."""

import ast
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tarmac.api.schemas.gpus.gpus import GpuProcess, GpuReservation, GpuView
from tarmac.api.schemas.gpus.nodes import NodeView
from tarmac.api.schemas.groups import GroupView
from tarmac.api.schemas.history.report import ReportSums, ReportView
from tarmac.api.schemas.job.environment import Variable
from tarmac.api.schemas.job.job import (
    AttemptView,
    FetchView,
    GpuRef,
    Leftovers,
    LeftProcess,
    LinkView,
    PartView,
    SnapshotView,
    WholeJobView,
)
from tarmac.api.schemas.job.jobs import StoryEvent
from tarmac.api.schemas.job.python import PackageChangeView, PythonView
from tarmac.api.schemas.job.selection import KillAnswer, NotRetried, RetryAnswer
from tarmac.api.schemas.job.why import WhyView
from tarmac.api.schemas.node_registry import NodeChange, NodeGone
from tarmac.api.schemas.notice import NoticeView
from tarmac.api.schemas.notify import NotificationsView, TargetList, TargetTestResult, TargetView
from tarmac.api.schemas.page import PageLink
from tarmac.api.schemas.queue import QueueView, SuspensionView
from tarmac.api.schemas.reservations import MadeReservation, ReservedGpu
from tarmac.api.schemas.results import ResultsView, ResultView
from tarmac.api.schemas.settings import SettingView
from tarmac.api.schemas.status import StatusView
from tarmac.client import answers
from tarmac.client.records import Gpu, Job, Record, Setting
from tests.home import Home

DICTS: dict[str, type[Struct] | None] = {
    "Attempt": AttemptView,
    "GpuRef": GpuRef,
    "Progress": None,  # built by hand; see the test of a real job's progress
    "Process": GpuProcess,
    "LeftProcess": LeftProcess,
    "Leftovers": Leftovers,
    "Fetched": FetchView,
    "Snapshot": SnapshotView,
    "Variable": Variable,
    "Python": PythonView,
    "PackageChange": PackageChangeView,
    "StoryEvent": StoryEvent,
    "ReservedGpu": ReservedGpu,
    "GpuReservation": GpuReservation,
    "Reservation": MadeReservation,
    "ReportSums": ReportSums,
    "Report": ReportView,
    "Why": WhyView,
    "Killed": KillAnswer,
    "Retried": RetryAnswer,
    "NotRetried": NotRetried,
    "Suspension": SuspensionView,
    "Group": GroupView,
    "Link": LinkView,
    "Result": ResultView,
    "Results": ResultsView,
    "GoneNode": NodeGone,
    "Part": PartView,
    "NodeChanges": NodeChange,
    "NodeOptions": None,  # a part of NodeRequest
    "Notice": NoticeView,
    "NotifyTarget": TargetView,
    "NotifyTest": TargetTestResult,
    "PageLink": PageLink,
    "NotifyOverview": TargetList,
    "Notifications": NotificationsView,
    "Queue": QueueView,
    "Node": NodeView,
    "Status": StatusView,
}


def typed_dicts() -> dict[str, set[str]]:
    """Fields of the TypedDicts, which only type checkers see."""
    tree = ast.parse(Path(answers.__file__).read_text(encoding="utf-8"))
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "TypedDict" for base in node.bases):
            fields = [line.target for line in node.body if isinstance(line, ast.AnnAssign)]
            found[node.name] = {field.id for field in fields if isinstance(field, ast.Name)}
    return found


@pytest.mark.parametrize(("record", "view"), [(Job, WholeJobView), (Gpu, GpuView), (Setting, SettingView)])
def test_a_record_has_the_fields_of_its_view(record: type[Record], view: type[Struct]) -> None:
    assert set(record.__annotations__) == set(view.__struct_fields__)


def test_every_typed_dict_is_compared() -> None:
    assert set(typed_dicts()) == set(DICTS)


@pytest.mark.parametrize(("name", "view"), [(name, view) for name, view in DICTS.items() if view is not None])
def test_a_typed_dict_has_the_fields_of_its_view(name: str, view: type[Struct]) -> None:
    assert typed_dicts()[name] == set(view.__struct_fields__)


def test_the_api_serves_every_field(home: Home) -> None:
    client = home.client()
    job = home.add("--", "sleep", "600")
    waiting = home.add("-g", "2", "--", "true")
    for record, served in ((Job, client.job(job)), (Gpu, client.gpus()[0]), (Setting, client.settings()[0])):
        assert set(record.__annotations__) == set(served.raw), record
    status: dict[str, Any] = {**client.status()}
    assert set(status) == typed_dicts()["Status"]
    assert set(status["nodes"][0]) == typed_dicts()["Node"]
    assert set(client.queue()) == typed_dicts()["Queue"]
    assert set(client.why(waiting)) == typed_dicts()["Why"]
    assert set(client.job(job).gpus[0]) == typed_dicts()["GpuRef"]
