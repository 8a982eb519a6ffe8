"""Metrics in the text format of Prometheus."""

from __future__ import annotations

from starlette.responses import Response

from tarmac.api.deps import Context
from tarmac.api.metrics.exposition import CONTENT_TYPE, family_text
from tarmac.api.metrics.families import FAMILIES
from tarmac.controller.gpus.usage import jobs_with_gpus


async def metrics(context: Context) -> Response:
    """Metrics for Prometheus, also at `/metrics`."""
    controller = context.controller
    controller.usage.settle(jobs_with_gpus(controller.state), controller.now())
    text = "".join(family_text(one.name, one.kind, one.help, one.read(controller)) for one in FAMILIES)
    return Response(text.encode("utf-8", "replace"), media_type=CONTENT_TYPE)
