"""The table of routes: every address of the API, what it takes, what it answers and who may use it.

A route is reachable, guarded, validated and described by OpenAPI because it is a row here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tarmac.api.answers import CSV
from tarmac.api.deps import Context
from tarmac.api.metrics.exposition import CONTENT_TYPE
from tarmac.api.openapi import document
from tarmac.api.route import BYTES, Route
from tarmac.api.routes import (
    controller_log,
    defaults,
    events,
    groups,
    metrics,
    node_registry,
    notice,
    notify,
    page,
    queue,
    reservations,
    results,
    settings,
    snapshots,
    status,
    templates,
)
from tarmac.api.routes.gpus import gpus, ignore, nodes
from tarmac.api.routes.history import exports, history, report
from tarmac.api.routes.job import (
    adopt,
    edit,
    environment,
    hold,
    jobs,
    kill,
    label,
    log,
    memory,
    pause,
    recent,
    retry,
    wait,
)
from tarmac.api.routes.job.copies import clone
from tarmac.api.routes.job.forms import change as form_change
from tarmac.api.routes.job.forms import job_options as form_options
from tarmac.api.routes.job.forms import submit as form_submit
from tarmac.api.schemas.controller_log import ControllerLogPart, ControllerLogQuery
from tarmac.api.schemas.defaults import DefaultsView
from tarmac.api.schemas.events import EventsQuery
from tarmac.api.schemas.gpus.gpus import (
    DrainRequest,
    GpuList,
    GpuSamples,
    GpusAnswer,
    GpuSelection,
    IgnoreAnswer,
    IgnoredList,
    IgnoreRequest,
    SamplesQuery,
    SlotsRequest,
)
from tarmac.api.schemas.gpus.nodes import NodeDrainRequest, NodeList, NodeView
from tarmac.api.schemas.groups import GroupPage, GroupsQuery, GroupView
from tarmac.api.schemas.history.history import (
    CleanAnswer,
    CleanPreview,
    CleanRequest,
    ExportPage,
    ExportQuery,
    HistoryCsvQuery,
    HistoryQuery,
    HistoryView,
    ImportAnswer,
    ImportLogAnswer,
    ImportLogRequest,
    ImportRequest,
)
from tarmac.api.schemas.history.report import HoursView, PeriodQuery, ReportQuery, ReportView
from tarmac.api.schemas.job.environment import EnvironmentView
from tarmac.api.schemas.job.forms import ChangesRequest, FormAnswer, FormRequest, JobForm, JobOptionList
from tarmac.api.schemas.job.job import WholeJobView
from tarmac.api.schemas.job.jobs import (
    AdoptAnswer,
    AdoptRequest,
    JobPage,
    JobsQuery,
    LogQuery,
    MoveAnswer,
    MoveRequest,
    RecentJobs,
    RecentQuery,
    StartAnswer,
    StartRequest,
    Story,
    SubmitAnswer,
    WaitAnswer,
    WaitQuery,
)
from tarmac.api.schemas.job.memory import MemoryQuery, MemorySamples
from tarmac.api.schemas.job.python import PythonChanges
from tarmac.api.schemas.job.selection import (
    CloneAnswer,
    CloneRequest,
    EditAnswer,
    EditEachRequest,
    EditManyRequest,
    HoldAnswer,
    KillAnswer,
    KillRequest,
    LabelAnswer,
    LabelRequest,
    MoveManyAnswer,
    MoveManyRequest,
    PauseAnswer,
    PauseRequest,
    ReleaseAnswer,
    RemoveAnswer,
    ResumeAnswer,
    RetryAnswer,
    RetryRequest,
    Selection,
)
from tarmac.api.schemas.job.why import WhyView
from tarmac.api.schemas.node_registry import NodeChange, NodeGone, NodeRequest
from tarmac.api.schemas.notice import NoticeAnswer, NoticeRequest
from tarmac.api.schemas.notify import TargetList, TargetTestAnswer, TargetTestRequest
from tarmac.api.schemas.page import PageLink, PageLinkRequest, PageLogout
from tarmac.api.schemas.queue import QueueRequest, QueueStopAnswer, QueueStopRequest, QueueView, ResumeRequest
from tarmac.api.schemas.reservations import MadeReservation, ReservationList, ReservationRequest, ReservationView
from tarmac.api.schemas.results import ResultsCsvRequest, ResultsRequest, ResultsView
from tarmac.api.schemas.settings import SettingList, SettingRequest, SettingView
from tarmac.api.schemas.snapshots import (
    AddedObjects,
    DiffQuery,
    MissingObjects,
    PutSnapshotRequest,
    SnapshotDiff,
    SnapshotState,
)
from tarmac.api.schemas.status import StatusView, StopAnswer, StopRequest
from tarmac.api.schemas.templates import TemplateList, TemplateRequest, TemplateView
from tarmac.controller.submit.request import EditRequest, SubmitRequest


async def openapi(_: Context) -> dict[str, Any]:
    """This description of the API."""
    return _document()


@cache
def _document() -> dict[str, Any]:
    return document(ROUTES)


EVENTS = "text/event-stream"
LARGEST_SUBMIT_BYTES = 512 << 20  # a million jobs
LARGEST_FORM_BYTES = 32 << 20
LARGEST_PACK_BYTES = 64 << 20
LARGEST_IMPORT_BYTES = 64 << 20  # one job may have a long story
REPEATED = {200: "this token was answered before"}

# fmt: off
ROUTES = (
    Route("POST", "/jobs", jobs.submit, body=SubmitRequest, answer=SubmitAnswer, status=201, other_statuses=REPEATED,
          largest_body_bytes=LARGEST_SUBMIT_BYTES),
    Route("POST", "/jobs/form", form_submit.submit_form, body=FormRequest, answer=FormAnswer,
          largest_body_bytes=LARGEST_FORM_BYTES),
    Route("GET", "/jobs", jobs.list_jobs, query=JobsQuery, answer=JobPage, is_shared=True),
    Route("GET", "/jobs/recent", recent.list_recent, query=RecentQuery, answer=RecentJobs, is_shared=True),
    Route("GET", "/jobs/{id}", jobs.show_job, answer=WholeJobView),
    Route("PATCH", "/jobs/{id}", edit.edit_job, body=EditRequest, answer=WholeJobView),
    Route("GET", "/jobs/{id}/options", edit.show_options, answer=dict[str, Any]),
    Route("GET", "/jobs/{id}/form", form_change.show_form, answer=JobForm),
    Route("PATCH", "/jobs/{id}/form", form_change.edit_form, body=ChangesRequest, answer=FormAnswer),
    Route("POST", "/jobs/{id}/form", form_change.copy_form, body=ChangesRequest, answer=FormAnswer),
    Route("GET", "/jobs/{id}/why", hold.why_job, answer=WhyView),
    Route("POST", "/jobs/{id}/move", hold.move_job, body=MoveRequest, answer=MoveAnswer),
    Route("POST", "/jobs/{id}/start", hold.start_job, body=StartRequest, answer=StartAnswer, admins_may="start"),
    Route("GET", "/jobs/{id}/events", jobs.job_story, answer=Story),
    Route("GET", "/jobs/{id}/diff", snapshots.diff_snapshots, query=DiffQuery, answer=SnapshotDiff),
    Route("GET", "/jobs/{id}/memory", memory.job_memory, query=MemoryQuery, answer=MemorySamples),
    Route("GET", "/jobs/{id}/environment", environment.show_environment, answer=EnvironmentView),
    Route("GET", "/jobs/{id}/python", environment.python_changes, answer=PythonChanges),
    Route("GET", "/jobs/{id}/log", log.job_log, query=LogQuery, answer=bytes, media_type=BYTES, may_last=True),
    Route("GET", "/jobs/wait", wait.wait_for_jobs, query=WaitQuery, answer=WaitAnswer, may_last=True),
    Route("POST", "/jobs/kill", kill.kill_jobs, body=KillRequest, answer=KillAnswer),
    Route("PATCH", "/jobs", edit.edit_each, body=EditEachRequest, answer=EditAnswer),
    Route("POST", "/jobs/clone", clone.clone_jobs, body=CloneRequest, answer=CloneAnswer, status=201),
    Route("POST", "/jobs/label", label.label_jobs, body=LabelRequest, answer=LabelAnswer),
    Route("POST", "/jobs/edit", edit.edit_jobs, body=EditManyRequest, answer=EditAnswer),
    Route("POST", "/jobs/move", hold.move_jobs, body=MoveManyRequest, answer=MoveManyAnswer),
    Route("POST", "/jobs/hold", hold.hold_jobs, body=Selection, answer=HoldAnswer),
    Route("POST", "/jobs/release", hold.release_jobs, body=Selection, answer=ReleaseAnswer),
    Route("POST", "/jobs/pause", pause.pause_jobs, body=PauseRequest, answer=PauseAnswer),
    Route("POST", "/jobs/resume", pause.resume_jobs, body=Selection, answer=ResumeAnswer),
    Route("POST", "/jobs/retry", retry.retry_jobs, body=RetryRequest, answer=RetryAnswer),
    Route("POST", "/jobs/rm", kill.remove_jobs, body=Selection, answer=RemoveAnswer),
    Route("GET", "/groups", groups.list_groups, query=GroupsQuery, answer=GroupPage, is_shared=True),
    Route("GET", "/groups/{id}", groups.show_group, answer=GroupView),
    Route("POST", "/results", results.results, body=ResultsRequest, answer=ResultsView, may_last=True),
    Route("POST", "/results/csv", results.results_csv, body=ResultsCsvRequest, answer=bytes, media_type=CSV,
          may_last=True),
    Route("POST", "/adopt", adopt.adopt, body=AdoptRequest, answer=AdoptAnswer, status=201),
    Route("POST", "/jobs/{id}/objects", snapshots.job_objects, takes_bytes=True, answer=bytes, media_type=BYTES),

    Route("GET", "/snapshots/{tree}", snapshots.show_snapshot, answer=SnapshotState),
    Route("PUT", "/snapshots/{tree}", snapshots.put_snapshot, body=PutSnapshotRequest, answer=SnapshotState),
    Route("POST", "/snapshots/missing", snapshots.missing_objects, takes_bytes=True, answer=MissingObjects,
          largest_body_bytes=LARGEST_PACK_BYTES),
    Route("POST", "/snapshots/objects", snapshots.add_objects, takes_bytes=True, answer=AddedObjects,
          largest_body_bytes=LARGEST_PACK_BYTES),

    Route("GET", "/history", history.list_history, query=HistoryQuery, answer=HistoryView),
    Route("GET", "/history/csv", history.history_csv, query=HistoryCsvQuery, answer=bytes, media_type=CSV,
          may_last=True),
    Route("POST", "/history/clean/preview", history.preview_cleaning, body=CleanRequest, answer=CleanPreview),
    Route("POST", "/history/clean", history.clean, body=CleanRequest, answer=CleanAnswer),
    Route("GET", "/history/export", exports.export_jobs, query=ExportQuery, answer=ExportPage),
    Route("POST", "/history/import", exports.import_jobs, body=ImportRequest, answer=ImportAnswer,
          largest_body_bytes=LARGEST_IMPORT_BYTES),
    Route("POST", "/history/import/log", exports.import_log, body=ImportLogRequest, answer=ImportLogAnswer),

    Route("GET", "/queue", queue.show_queue, answer=QueueView, is_shared=True),
    Route("POST", "/queue/pause", queue.pause_queue, body=QueueRequest, answer=QueueView, admins_may="queue"),
    Route("POST", "/queue/resume", queue.resume_queue, body=ResumeRequest, answer=QueueView),
    Route("POST", "/queue/drain", queue.drain_queue, body=QueueRequest, answer=QueueView, admins_may="queue"),
    Route("POST", "/queue/stop", queue.stop_queue, body=QueueStopRequest, answer=QueueStopAnswer, admins_may="stop"),

    Route("GET", "/notice", notice.show_notice, answer=NoticeAnswer),
    Route("PUT", "/notice", notice.put_notice, body=NoticeRequest, answer=NoticeAnswer, admins_may="notice"),
    Route("DELETE", "/notice", notice.clear_notice, answer=NoticeAnswer, admins_may="notice"),

    Route("GET", "/notify", notify.list_targets, answer=TargetList),
    Route("POST", "/notify/test", notify.test_targets, body=TargetTestRequest, answer=TargetTestAnswer, may_last=True),

    Route("GET", "/reservations", reservations.list_reservations, answer=ReservationList),
    Route("POST", "/reservations", reservations.make_reservation, body=ReservationRequest, answer=MadeReservation,
          status=201, admins_may="reserve"),
    Route("POST", "/reservations/{id:number}/end", reservations.end_reservation, answer=ReservationView),

    Route("GET", "/gpus", gpus.list_gpus, answer=GpuList, is_shared=True),
    Route("GET", "/gpus/{gpu}/samples", gpus.gpu_samples, query=SamplesQuery, answer=GpuSamples),
    Route("POST", "/gpus/drain", gpus.drain_gpus, body=DrainRequest, answer=GpusAnswer, admins_may="gpus"),
    Route("POST", "/gpus/resume", gpus.resume_gpus, body=GpuSelection, answer=GpusAnswer, admins_may="gpus"),
    Route("POST", "/gpus/forget", gpus.forget_gpus, body=GpuSelection, answer=GpusAnswer, admins_may="gpus"),
    Route("POST", "/gpus/slots", gpus.set_slots, body=SlotsRequest, answer=GpusAnswer, admins_may="gpus"),
    Route("GET", "/gpus/ignore", ignore.list_ignored, answer=IgnoredList),
    Route("POST", "/gpus/ignore", ignore.ignore_process, body=IgnoreRequest, answer=IgnoreAnswer, admins_may="ignore"),

    Route("GET", "/nodes", nodes.list_nodes, answer=NodeList, is_shared=True),
    Route("GET", "/nodes/{name}", nodes.show_node, answer=NodeView),
    Route("POST", "/nodes/{name}/drain", nodes.drain_node, body=NodeDrainRequest, answer=NodeView, admins_may="nodes"),
    Route("POST", "/nodes/{name}/resume", nodes.resume_node, answer=NodeView, admins_may="nodes"),
    Route("POST", "/nodes", node_registry.add_node, body=NodeRequest, answer=NodeView, status=201,
          admins_may="nodes", may_last=True),
    Route("PATCH", "/nodes/{name}", node_registry.change_node, body=NodeChange, answer=NodeView, admins_may="nodes"),
    Route("DELETE", "/nodes/{name}", node_registry.remove_node, answer=NodeGone, admins_may="nodes", may_last=True),
    Route("POST", "/nodes/{name}/forget", node_registry.forget_node, answer=NodeGone, admins_may="nodes"),
    Route("POST", "/nodes/{name}/try", node_registry.try_node, answer=NodeView, admins_may="nodes"),

    Route("GET", "/metrics", metrics.metrics, answer=bytes, media_type=CONTENT_TYPE),
    Route("GET", "/report", report.show_report, query=ReportQuery, answer=ReportView),
    Route("GET", "/report/csv", report.report_csv, query=ReportQuery, answer=bytes, media_type=CSV),
    Route("GET", "/report/hours", report.show_hours, query=PeriodQuery, answer=HoursView),

    Route("GET", "/defaults", defaults.show_defaults, answer=DefaultsView),
    Route("GET", "/job-options", form_options.list_job_options, answer=JobOptionList),
    Route("GET", "/templates", templates.list_templates, answer=TemplateList),
    Route("GET", "/templates/{name}", templates.show_template, answer=TemplateView),
    Route("PUT", "/templates/{name}", templates.save_template, body=TemplateRequest, answer=TemplateView),
    Route("DELETE", "/templates/{name}", templates.remove_template, answer=TemplateView),

    Route("GET", "/settings", settings.list_settings, answer=SettingList),
    Route("GET", "/settings/{name}", settings.show_setting, answer=SettingView),
    Route("PUT", "/settings/{name}", settings.change_setting, body=SettingRequest, answer=SettingView,
          admins_may="set"),
    Route("DELETE", "/settings/{name}", settings.reset_setting, answer=SettingView, admins_may="set"),

    Route("POST", "/page/links", page.create_link, body=PageLinkRequest, answer=PageLink, status=201),
    Route("POST", "/page/logout", page.log_out, answer=PageLogout),

    Route("GET", "/controller/log", controller_log.show_controller_log, query=ControllerLogQuery,
          answer=ControllerLogPart, admins_may="log"),
    Route("GET", "/status", status.status, answer=StatusView),
    Route("GET", "/events", events.events, query=EventsQuery, answer=bytes, media_type=EVENTS, may_last=True),
    Route("POST", "/stop", status.stop, body=StopRequest, answer=StopAnswer, status=202, admins_may="end"),
    Route("GET", "/openapi.json", openapi, answer=dict[str, Any]),
)
# fmt: on
