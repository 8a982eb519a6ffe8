"""The table of routes: every address of the API, what it takes, what it answers and who may use it.

A route is reachable, guarded, validated and described by OpenAPI because it is a row here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tarmac.api.deps import Context
from tarmac.api.metrics.exposition import CONTENT_TYPE
from tarmac.api.openapi import document
from tarmac.api.route import Route
from tarmac.api.routes import (
    adopt,
    edit,
    events,
    gpus,
    hold,
    ignore,
    jobs,
    log,
    metrics,
    notice,
    notify,
    pause,
    queue,
    report,
    reservations,
    retry,
    settings,
    status,
)
from tarmac.api.schemas.events import EventsQuery
from tarmac.api.schemas.gpus import (
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
from tarmac.api.schemas.job import WholeJobView
from tarmac.api.schemas.jobs import (
    AdoptAnswer,
    AdoptRequest,
    JobPage,
    JobsQuery,
    LogQuery,
    MoveAnswer,
    MoveRequest,
    StartAnswer,
    StartRequest,
    Story,
    SubmitAnswer,
    WaitAnswer,
    WaitQuery,
)
from tarmac.api.schemas.notice import NoticeAnswer, NoticeRequest
from tarmac.api.schemas.notify import TargetList, TargetTestAnswer, TargetTestRequest
from tarmac.api.schemas.queue import QueueRequest, QueueStopAnswer, QueueStopRequest, QueueView, ResumeRequest
from tarmac.api.schemas.report import ReportQuery, ReportView
from tarmac.api.schemas.reservations import MadeReservation, ReservationList, ReservationRequest, ReservationView
from tarmac.api.schemas.selection import (
    EditAnswer,
    EditManyRequest,
    HoldAnswer,
    KillAnswer,
    KillRequest,
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
from tarmac.api.schemas.settings import SettingList, SettingRequest, SettingView
from tarmac.api.schemas.status import StatusView, StopAnswer, StopRequest
from tarmac.api.schemas.why import WhyView
from tarmac.controller.submit.request import EditRequest, SubmitRequest


async def openapi(_: Context) -> dict[str, Any]:
    """This description of the API."""
    return _document()


@cache
def _document() -> dict[str, Any]:
    return document(ROUTES)


BYTES = "application/octet-stream"
EVENTS = "text/event-stream"
LARGEST_SUBMIT_BYTES = 512 << 20  # a million jobs
REPEATED = {200: "this token was answered before"}

# fmt: off
ROUTES = (
    Route("POST", "/jobs", jobs.submit, body=SubmitRequest, answer=SubmitAnswer, status=201, other_statuses=REPEATED,
          largest_body_bytes=LARGEST_SUBMIT_BYTES),
    Route("GET", "/jobs", jobs.list_jobs, query=JobsQuery, answer=JobPage),
    Route("GET", "/jobs/{id}", jobs.show_job, answer=WholeJobView),
    Route("PATCH", "/jobs/{id}", edit.edit_job, body=EditRequest, answer=WholeJobView),
    Route("GET", "/jobs/{id}/why", hold.why_job, answer=WhyView),
    Route("POST", "/jobs/{id}/move", hold.move_job, body=MoveRequest, answer=MoveAnswer),
    Route("POST", "/jobs/{id}/start", hold.start_job, body=StartRequest, answer=StartAnswer, admins_may="start"),
    Route("GET", "/jobs/{id}/events", jobs.job_story, answer=Story),
    Route("GET", "/jobs/{id}/log", log.job_log, query=LogQuery, answer=bytes, media_type=BYTES, may_last=True),
    Route("GET", "/jobs/wait", jobs.wait_for_jobs, query=WaitQuery, answer=WaitAnswer, may_last=True),
    Route("POST", "/jobs/kill", jobs.kill_jobs, body=KillRequest, answer=KillAnswer),
    Route("POST", "/jobs/edit", edit.edit_jobs, body=EditManyRequest, answer=EditAnswer),
    Route("POST", "/jobs/move", hold.move_jobs, body=MoveManyRequest, answer=MoveManyAnswer),
    Route("POST", "/jobs/hold", hold.hold_jobs, body=Selection, answer=HoldAnswer),
    Route("POST", "/jobs/release", hold.release_jobs, body=Selection, answer=ReleaseAnswer),
    Route("POST", "/jobs/pause", pause.pause_jobs, body=PauseRequest, answer=PauseAnswer),
    Route("POST", "/jobs/resume", pause.resume_jobs, body=Selection, answer=ResumeAnswer),
    Route("POST", "/jobs/retry", retry.retry_jobs, body=RetryRequest, answer=RetryAnswer),
    Route("POST", "/jobs/rm", jobs.remove_jobs, body=Selection, answer=RemoveAnswer),
    Route("POST", "/adopt", adopt.adopt, body=AdoptRequest, answer=AdoptAnswer, status=201),

    Route("GET", "/queue", queue.show_queue, answer=QueueView),
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

    Route("GET", "/gpus", gpus.list_gpus, answer=GpuList),
    Route("GET", "/gpus/{gpu}/samples", gpus.gpu_samples, query=SamplesQuery, answer=GpuSamples),
    Route("POST", "/gpus/drain", gpus.drain_gpus, body=DrainRequest, answer=GpusAnswer),
    Route("POST", "/gpus/resume", gpus.resume_gpus, body=GpuSelection, answer=GpusAnswer),
    Route("POST", "/gpus/forget", gpus.forget_gpus, body=GpuSelection, answer=GpusAnswer),
    Route("POST", "/gpus/slots", gpus.set_slots, body=SlotsRequest, answer=GpusAnswer),
    Route("GET", "/gpus/ignore", ignore.list_ignored, answer=IgnoredList),
    Route("POST", "/gpus/ignore", ignore.ignore_process, body=IgnoreRequest, answer=IgnoreAnswer),

    Route("GET", "/metrics", metrics.metrics, answer=bytes, media_type=CONTENT_TYPE),
    Route("GET", "/report", report.show_report, query=ReportQuery, answer=ReportView),

    Route("GET", "/settings", settings.list_settings, answer=SettingList),
    Route("GET", "/settings/{name}", settings.show_setting, answer=SettingView),
    Route("PUT", "/settings/{name}", settings.change_setting, body=SettingRequest, answer=SettingView,
          admins_may="set"),
    Route("DELETE", "/settings/{name}", settings.reset_setting, answer=SettingView, admins_may="set"),

    Route("GET", "/status", status.status, answer=StatusView),
    Route("GET", "/events", events.events, query=EventsQuery, answer=bytes, media_type=EVENTS, may_last=True),
    Route("POST", "/stop", status.stop, body=StopRequest, answer=StopAnswer, status=202),
    Route("GET", "/openapi.json", openapi, answer=dict[str, Any]),
)
# fmt: on
