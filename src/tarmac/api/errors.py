"""Every failure is answered with the one documented body: code, key, message, hint."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import ClientDisconnect

from tarmac import __version__
from tarmac.api.answers import json_answer
from tarmac.api.wording.catalogue.catalogue import render
from tarmac.api.wording.refusals import refusal
from tarmac.api.wording.validation_messages import unknown_parameter, wrong_field, wrong_parameter
from tarmac.refusal import Refused, RefusedJobs, invalid, not_found, too_new
from tarmac.shared.names import API
from tarmac.shared.numbers import whole_number

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Scope

    from tarmac.api.wording.catalogue.message import Rendered

log = logging.getLogger(__name__)

_AT = re.compile(r" - at `\$(.*)`$")  # where msgspec found a wrong value


STATUS_OF = {
    "refused": 400,
    "not_allowed": 403,
    "not_found": 404,
    "conflict": 409,
    "too_new": 426,
    "unavailable": 503,
}
_STATUS_OF_KEY = {
    "page.not_logged_in": 401,
    "request.wrong_method": 405,
    "request.too_slow": 408,
    "request.too_large": 413,
    "request.not_declared_json": 415,
    "request.not_declared_bytes": 415,
    "request.head_too_large": 431,
}


def from_refused(refused: Refused) -> Response:
    status = _STATUS_OF_KEY.get(refused.key) or STATUS_OF[refused.kind]
    jobs = refused.jobs if isinstance(refused, RefusedJobs) else {}
    return _answer(status, refused.kind, refusal(refused), {number: refusal(one) for number, one in jobs.items()})


def from_anything(scope: Scope, error: Exception) -> Response:
    log.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
    return _answer(500, "internal", render("server.failed", error=str(error)))


async def answered(scope: Scope, answering: Awaitable[ASGIApp]) -> ASGIApp | None:
    """The answer, or what says why there is none; None if the client is gone. The outermost frame of a request."""
    try:
        return await answering
    except Refused as refused:
        return from_refused(refused)
    except ClientDisconnect:
        return None
    except Exception as error:  # noqa: BLE001 - every failure gets an answer
        return from_anything(scope, error)


def no_such_address() -> Response:
    return from_refused(not_found("request.unknown_address"))


def method_not_allowed(method: str, allowed: Sequence[str]) -> Response:
    answer = from_refused(invalid("request.wrong_method", method=method, allowed=allowed))
    answer.headers["Allow"] = ", ".join(allowed)
    return answer


def refuse_newer_clients(spoken: str | None) -> None:
    if spoken is None:
        return
    number = whole_number(spoken)
    if number is None:
        raise invalid("request.not_a_version", spoken=spoken, api=API)
    if number > API:
        raise too_new("request.newer_client", spoken=spoken, version=__version__, api=API)


def decoded_query(model: type[Any], given: Mapping[str, str]) -> Any:
    try:
        return msgspec.convert(given, model, strict=False)
    except msgspec.ValidationError as error:
        raise invalid("request.wrong_fields", wrong=_wrong_parameters(model, given) or [worded(model, error)]) from None


def _wrong_parameters(model: type[Any], given: Mapping[str, str]) -> list[str]:
    """Every unknown parameter and every wrong value: msgspec itself stops at the first."""
    fields = msgspec.structs.fields(model)
    names = [field.encode_name for field in fields]
    found = [unknown_parameter(name, names) for name in given if name not in names]
    for field in fields:
        if field.encode_name in given:
            try:
                msgspec.convert(given[field.encode_name], field.type, strict=False)
            except msgspec.ValidationError:
                found.append(wrong_parameter(field.encode_name, field.type))
    return found


def decoded_body(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body or b"null")
    except msgspec.ValidationError as error:
        raise invalid("request.wrong_fields", wrong=[worded(decoder.type, error)]) from None
    except msgspec.DecodeError as error:
        raise invalid("request.not_json", error=str(error)) from None
    except UnicodeDecodeError:
        raise invalid("request.not_utf8") from None
    except RecursionError:
        raise invalid("request.too_deep") from None


def worded(model: Any, error: msgspec.ValidationError) -> str:
    message = str(error)
    place = _AT.search(message)
    return wrong_field(model, "" if place is None else place[1], message)


def _answer(status: int, code: str, words: Rendered, jobs: Mapping[int, Rendered] | None = None) -> Response:
    body: dict[str, Any] = {"code": code, "key": words.key, "message": words.message, "hint": words.hint}
    if jobs:
        body["jobs"] = [
            {"index": number, "key": one.key, "message": one.message, "hint": one.hint}
            for number, one in sorted(jobs.items())
        ]
    return json_answer({"error": body}, status)
