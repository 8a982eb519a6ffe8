"""The table of routes: every address of the API, what it takes, what it answers and who may use it.

A route is reachable, guarded, validated and described by OpenAPI because it is a row here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tarmac.api import schemas
from tarmac.api.deps import Context
from tarmac.api.openapi import document
from tarmac.api.route import Route
from tarmac.api.routes import adopt, edit, events, gpus, hold, ignore, jobs, log, queue, reservations, settings, status
from tarmac.controller.submit.request import EditRequest, SubmitRequest


async def openapi(_: Context) -> dict[str, Any]:
    """This description of the API."""
    return _document()


@cache
def _document() -> dict[str, Any]:
    return document(ROUTES)


BYTES = "application/octet-stream"
EVENTS = "text/event-stream"
REPEATED = {200: "this token was answered before"}
MODES = "pause, drain and resume the queue"
SETTINGS = "change settings"

ROUTES = (
    Route(
        "POST",
        "/jobs",
        jobs.submit,
        body=SubmitRequest,
        answer=schemas.SubmitAnswer,
        status=201,
        other_statuses=REPEATED,
    ),
    Route("GET", "/jobs", jobs.list_jobs, query=schemas.JobsQuery, answer=schemas.JobPage),
    Route("GET", "/jobs/{id}", jobs.show_job, answer=schemas.WholeJobView),
    Route("PATCH", "/jobs/{id}", edit.edit_job, body=EditRequest, answer=schemas.WholeJobView),
    Route("GET", "/jobs/{id}/why", hold.why_job, answer=schemas.WhyView),
    Route("POST", "/jobs/{id}/move", hold.move_job, body=schemas.MoveRequest, answer=schemas.MoveAnswer),
    Route(
        "POST",
        "/jobs/{id}/start",
        hold.start_job,
        body=schemas.StartRequest,
        answer=schemas.StartAnswer,
        admins_may="start a job out of its turn",
    ),
    Route("GET", "/jobs/{id}/events", jobs.job_story, answer=schemas.Story),
    Route("GET", "/jobs/{id}/log", log.job_log, query=schemas.LogQuery, answer=bytes, media_type=BYTES),
    Route("GET", "/jobs/wait", jobs.wait_for_jobs, query=schemas.WaitQuery, answer=schemas.WaitAnswer),
    Route("POST", "/jobs/kill", jobs.kill_jobs, body=schemas.KillRequest, answer=schemas.KillAnswer),
    Route("POST", "/jobs/edit", edit.edit_jobs, body=schemas.EditManyRequest, answer=schemas.EditAnswer),
    Route("POST", "/jobs/hold", hold.hold_jobs, body=schemas.Selection, answer=schemas.HoldAnswer),
    Route("POST", "/jobs/release", hold.release_jobs, body=schemas.Selection, answer=schemas.ReleaseAnswer),
    Route("POST", "/jobs/rm", jobs.remove_jobs, body=schemas.Selection, answer=schemas.RemoveAnswer),
    Route("POST", "/adopt", adopt.adopt, body=schemas.AdoptRequest, answer=schemas.AdoptAnswer, status=201),
    Route("GET", "/queue", queue.show_queue, answer=schemas.QueueView),
    Route(
        "POST", "/queue/pause", queue.pause_queue, body=schemas.QueueRequest, answer=schemas.QueueView, admins_may=MODES
    ),
    Route(
        "POST",
        "/queue/resume",
        queue.resume_queue,
        body=schemas.QueueRequest,
        answer=schemas.QueueView,
        admins_may=MODES,
    ),
    Route(
        "POST", "/queue/drain", queue.drain_queue, body=schemas.QueueRequest, answer=schemas.QueueView, admins_may=MODES
    ),
    Route(
        "POST",
        "/queue/stop",
        queue.stop_queue,
        body=schemas.QueueStopRequest,
        answer=schemas.QueueStopAnswer,
        admins_may="stop the queue",
    ),
    Route("GET", "/reservations", reservations.list_reservations, answer=schemas.ReservationList),
    Route(
        "POST",
        "/reservations",
        reservations.make_reservation,
        body=schemas.ReservationRequest,
        answer=schemas.MadeReservation,
        status=201,
        admins_may="reserve GPUs",
    ),
    Route("POST", "/reservations/{id:int}/end", reservations.end_reservation, answer=schemas.ReservationView),
    Route("GET", "/gpus", gpus.list_gpus, answer=schemas.GpuList),
    Route("GET", "/gpus/{gpu}/samples", gpus.gpu_samples, query=schemas.SamplesQuery, answer=schemas.GpuSamples),
    Route("POST", "/gpus/drain", gpus.drain_gpus, body=schemas.DrainRequest, answer=schemas.GpusAnswer),
    Route("POST", "/gpus/resume", gpus.resume_gpus, body=schemas.GpuSelection, answer=schemas.GpusAnswer),
    Route("POST", "/gpus/forget", gpus.forget_gpus, body=schemas.GpuSelection, answer=schemas.GpusAnswer),
    Route("POST", "/gpus/slots", gpus.set_slots, body=schemas.SlotsRequest, answer=schemas.GpusAnswer),
    Route("POST", "/gpus/ignore", ignore.ignore_process, body=schemas.IgnoreRequest, answer=schemas.IgnoreAnswer),
    Route("GET", "/settings", settings.list_settings, answer=schemas.SettingList),
    Route("GET", "/settings/{name}", settings.show_setting, answer=schemas.SettingView),
    Route(
        "PUT",
        "/settings/{name}",
        settings.change_setting,
        body=schemas.SettingRequest,
        answer=schemas.SettingView,
        admins_may=SETTINGS,
    ),
    Route("DELETE", "/settings/{name}", settings.reset_setting, answer=schemas.SettingView, admins_may=SETTINGS),
    Route("GET", "/status", status.status, answer=schemas.StatusView),
    Route("GET", "/events", events.events, query=schemas.EventsQuery, answer=bytes, media_type=EVENTS),
    Route("POST", "/stop", status.stop, body=schemas.StopRequest, answer=schemas.StopAnswer, status=202),
    Route("GET", "/openapi.json", openapi, answer=dict[str, Any]),
)
