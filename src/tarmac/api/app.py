"""The routes put together: the same for the command line, the page and every program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litestar import Litestar, Request, Response, Router, get
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from tarmac import __version__
from tarmac.api import errors
from tarmac.api.auth import caller
from tarmac.api.routes import adopt, edit, events, gpus, hold, ignore, jobs, log, queue, reservations, settings, status
from tarmac.api.wording.times import tell_in_zone
from tarmac.errors import TarmacError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.controller.engine import Engine

LARGEST_BODY_BYTES = 512 * 1024 * 1024  # a million jobs


@get("/openapi.json", include_in_schema=False)
async def openapi(request: Request[Any, Any, Any]) -> dict[str, Any]:
    return request.app.openapi_schema.to_schema()


ROUTES = (
    jobs.submit,
    jobs.list_jobs,
    jobs.wait_for_jobs,
    jobs.show_job,
    jobs.job_story,
    jobs.kill_jobs,
    jobs.remove_jobs,
    hold.hold_jobs,
    hold.release_jobs,
    hold.move_job,
    edit.edit_job,
    edit.edit_jobs,
    hold.start_job,
    hold.why_job,
    log.job_log,
    queue.show_queue,
    queue.pause_queue,
    queue.resume_queue,
    queue.drain_queue,
    queue.stop_queue,
    reservations.list_reservations,
    reservations.make_reservation,
    reservations.end_reservation,
    gpus.list_gpus,
    gpus.gpu_samples,
    gpus.drain_gpus,
    gpus.resume_gpus,
    gpus.forget_gpus,
    gpus.set_slots,
    ignore.ignore_process,
    adopt.adopt,
    settings.list_settings,
    settings.show_setting,
    settings.change_setting,
    settings.reset_setting,
    status.status,
    status.stop,
    events.events,
    openapi,
)


def build_app(engine: Engine, end: Callable[[], None]) -> Litestar:
    async def tell_of_trouble(answer: Response[Any]) -> Response[Any]:
        if engine.degraded is not None:
            answer.headers["Tarmac-Degraded"] = engine.degraded.encode("ascii", "replace").decode()
        return answer

    async def look_at_head(request: Request[Any, Any, Any]) -> None:
        await errors.refuse_newer_clients(request)
        tell_in_zone(request.headers.get("Tarmac-Zone"))

    router = Router(
        "/api/v1",
        route_handlers=ROUTES,
        dependencies={
            "engine": Provide(lambda: engine, sync_to_thread=False),
            "end": Provide(lambda: end, sync_to_thread=False),
            "caller": Provide(caller),
        },
        before_request=look_at_head,
    )
    return Litestar(
        [router],
        exception_handlers={
            TarmacError: errors.from_tarmac,
            HTTPException: errors.from_litestar,
            Exception: errors.from_anything,
        },
        openapi_config=OpenAPIConfig(
            title="Tarmac",
            version=__version__,
            path="/api/v1/schema",  # Litestar answers every unknown path below it with a page of its own
            render_plugins=[JsonRenderPlugin()],
        ),
        after_request=tell_of_trouble,
        request_max_body_size=LARGEST_BODY_BYTES,
        logging_config=None,
    )
