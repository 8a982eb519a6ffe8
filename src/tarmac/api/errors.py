"""Every failure leaves as the one documented body: code, message, hint."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from litestar import Response
from litestar.exceptions import HTTPException, ValidationException

from tarmac import __version__
from tarmac.api.wording.validation_messages import must_be, refusal
from tarmac.errors import TarmacError, TooNew, UserError

if TYPE_CHECKING:
    from litestar import Request

log = logging.getLogger(__name__)

API = 1  # what this controller speaks


def from_tarmac(_: Request[Any, Any, Any], error: TarmacError) -> Response[dict[str, Any]]:
    return _answer(error.status, error.code, error.message, error.hint)


def from_litestar(request: Request[Any, Any, Any], error: HTTPException) -> Response[dict[str, Any]]:
    if isinstance(error, ValidationException):
        return _answer(400, UserError.code, _details(request, error), "docs/api.md names every field")
    if error.status_code == 404:
        return _answer(404, "not_found", "there is no such address", "GET /api/v1/openapi.json lists them")
    code = "refused" if error.status_code < 500 else "internal"
    return _answer(error.status_code, code, error.detail, None)


def from_anything(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return _answer(500, "internal", f"the controller failed: {error}", "`tarmac log controller` tells where")


async def refuse_newer_clients(request: Request[Any, Any, Any]) -> None:
    spoken = request.headers.get("tarmac-api", str(API))
    if not spoken.isdecimal():
        raise UserError(f"Tarmac-Api: {spoken!r} is no version", hint=f"this controller speaks {API}")
    if int(spoken) > API:
        raise TooNew(
            f"the client speaks API {spoken}, this controller (Tarmac {__version__}) speaks {API}",
            hint="`tarmac stop`, and the next command starts the new controller; running jobs go on",
        )


def _details(request: Request[Any, Any, Any], error: ValidationException) -> str:
    """In the words of whoever asked, with all that is allowed."""
    extra = error.extra if isinstance(error.extra, list) else []
    taken = request.route_handler.parsed_fn_signature.parameters
    said = [_detail(taken, item.get("key", ""), item.get("message", "")) for item in extra]
    return "; ".join(said) or f"the request is not understood: {error.detail}"


def _detail(taken: dict[str, Any], key: str, message: str) -> str:
    if key == "data" or key not in taken:
        return refusal(taken["data"].annotation, "" if key == "data" else key, message) if "data" in taken else message
    rule = taken[key].kwarg_definition
    return must_be(key, taken[key].annotation, getattr(rule, "ge", None), getattr(rule, "le", None))


def _answer(status: int, code: str, message: str, hint: str | None) -> Response[dict[str, Any]]:
    return Response({"error": {"code": code, "message": message, "hint": hint}}, status_code=status)
