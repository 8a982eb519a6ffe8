"""What a field of a request must be, and requests that no route can answer."""

from __future__ import annotations

from tarmac.api.wording.message import Message

MESSAGES: dict[str, Message] = {
    "request.unknown_address": Message("this address does not exist", "see GET /api/v1/openapi.json for all addresses"),
    "request.wrong_method": Message("this address does not accept {method}", "use {allowed}"),
    "request.not_a_version": Message("Tarmac-Api: {spoken:quoted} is not a version", "send {api}"),
    "request.newer_client": Message(
        "the client speaks API {spoken}; this controller (Tarmac {version}) speaks {api}",
        "run `tarmac stop`; the next command starts the new controller, and running jobs go on",
    ),
    "request.wrong_fields": Message("{wrong:join ; }", "see docs/api.md for all fields"),
    "request.not_json": Message("the body is not valid JSON: {error}", "send a JSON object"),
    "request.not_utf8": Message("the body is not UTF-8", "send JSON in UTF-8"),
    "request.too_large": Message("the body exceeds {most} bytes", "submit fewer jobs at once"),
}
