"""Every failure leaves as the one documented body: code, message, hint."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import msgspec

from tarmac import __version__
from tarmac.api.answers import json_answer
from tarmac.api.wording import refusals
from tarmac.api.wording.validation_messages import refusal
from tarmac.errors import TarmacError, TooNew, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from starlette.types import Scope

    from tarmac.refusal import Refused

log = logging.getLogger(__name__)

API = 1  # the version this controller speaks
_SEE = "docs/api.md names every field"
_AT = re.compile(r" - at `\$(.*)`$")  # where msgspec found a wrong value


class BodyTooLarge(TarmacError):
    """The body of the request exceeds the limit."""

    code = "refused"
    status = 413


def from_tarmac(error: TarmacError) -> Response:
    return _answer(error.status, error.code, error.message, error.hint)


STATUS_OF = {
    "refused": 400,
    "not_allowed": 403,
    "not_found": 404,
    "conflict": 409,
    "too_new": 426,
    "unavailable": 503,
}


def from_refused(refused: Refused) -> Response:
    said = refusals.refusal(refused)
    body = {"code": refused.kind, "key": said.key, "message": said.message, "hint": said.hint}
    return json_answer({"error": body}, STATUS_OF[refused.kind])


def from_anything(scope: Scope, error: Exception) -> Response:
    log.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
    return _answer(500, "internal", f"the controller failed: {error}", "`tarmac log controller` tells where")


def no_such_address() -> Response:
    return _answer(404, "not_found", "there is no such address", "GET /api/v1/openapi.json lists them")


def method_not_allowed(allowed: str) -> Response:
    answer = _answer(405, "refused", "Method Not Allowed", None)
    answer.headers["Allow"] = allowed
    return answer


def refuse_newer_clients(spoken: str | None) -> None:
    if spoken is None:
        return
    if not spoken.isdecimal():
        raise UserError(f"Tarmac-Api: {spoken!r} is not a version", hint=f"this controller speaks {API}")
    if int(spoken) > API:
        raise TooNew(
            f"the client speaks API {spoken}, this controller (Tarmac {__version__}) speaks {API}",
            hint="`tarmac stop`, and the next command starts the new controller; running jobs go on",
        )


def decoded_query(model: type[Any], given: Mapping[str, str]) -> Any:
    try:
        return msgspec.convert(given, model, strict=False)
    except msgspec.ValidationError as error:
        raise UserError("; ".join(_wrong_parameters(model, given)) or _worded(model, error), hint=_SEE) from None


def _wrong_parameters(model: type[Any], given: Mapping[str, str]) -> list[str]:
    """Every parameter with a wrong value: msgspec itself stops at the first."""
    found = []
    for field in msgspec.structs.fields(model):
        if field.encode_name in given:
            try:
                msgspec.convert(given[field.encode_name], field.type, strict=False)
            except msgspec.ValidationError as error:
                found.append(refusal(model, field.encode_name, str(error)))
    return found


def decoded_body(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body or b"null")
    except msgspec.ValidationError as error:
        raise UserError(_worded(decoder.type, error), hint=_SEE) from None
    except msgspec.DecodeError as error:
        raise UserError(str(error)) from None
    except UnicodeDecodeError:
        raise UserError("the body is not UTF-8") from None


def _worded(model: Any, error: msgspec.ValidationError) -> str:
    message = str(error)
    place = _AT.search(message)
    return refusal(model, "" if place is None else place[1], message)


def _answer(status: int, code: str, message: str, hint: str | None) -> Response:
    return json_answer({"error": {"code": code, "message": message, "hint": hint}}, status)
