"""What a field of a request must be, and requests that no route can answer."""

from __future__ import annotations

from tarmac.api.wording.catalogue.message import Message

MESSAGES: dict[str, Message] = {
    "report.wrong_span": Message("the report would begin after its end", "give an earlier time as `since`"),
    "report.moment_and_day": Message("{moment} cannot be used together with {day}", "leave out one of them"),
    "report.no_such_day": Message("{day} is not a day", "write it as 2026-11-30"),
    "request.unknown_address": Message("this address does not exist", "see GET /api/v1/openapi.json for all addresses"),
    "request.wrong_method": Message("this address does not accept {method}", "use {allowed:or}"),
    "request.not_a_version": Message("Tarmac-Api: {spoken:quoted} is not a version", "send {api}"),
    "request.newer_client": Message(
        "the client speaks API {spoken}; this controller (Tarmac {version}) speaks {api}",
        "run `tarmac stop`; the next command starts the new controller, and running jobs go on",
    ),
    "request.wrong_fields": Message("{wrong:join ; }", "see docs/api.md for all fields"),
    "request.not_json": Message("the body is not valid JSON: {error}", "send a JSON object"),
    "request.too_deep": Message("the body is nested too deeply", "send objects and lists with fewer levels"),
    "request.not_utf8": Message("the body is not UTF-8", "send JSON in UTF-8"),
    "request.wrong_key": Message(
        "Idempotency-Key must have 1 to {most} characters", "generate a new one for each request, such as a UUID"
    ),
    "request.not_declared_bytes": Message(
        "the request's content type must be application/octet-stream",
        "send bytes with the header Content-Type: application/octet-stream",
    ),
    "request.not_declared_json": Message(
        "the body is not declared as application/json", "send the header Content-Type: application/json"
    ),
    "request.repeated_parameter": Message("{name:quoted} is given more than once", "give each parameter once"),
    "request.too_many_parameters": Message("the query has more than {most} parameters", "give each parameter once"),
    "request.not_http": Message("this is not an HTTP request", "see docs/api.md"),
    "request.head_too_large": Message(
        "the address and the headers exceed {most} bytes, or there are more than 100 headers",
        "name jobs by ranges, such as 1-500",
    ),
    "request.too_slow": Message("the request did not arrive in time", "send it again"),
    "request.too_large": Message("the body exceeds {most} bytes", "submit fewer jobs at once"),
    # fields
    "field.missing": Message("{field} is missing"),
    "field.unknown": Message("{field} is not a field of this request"),
    "field.unknown_parameter": Message("{name} is not a parameter of this address, which accepts {known:join , }"),
    "field.must_be": Message("{field} must be {allowed}"),
    "field.each_must_be": Message("each of {field} must be {allowed}"),
    "field.body": Message("the body"),
    "field.of_job": Message("job {number} of the submit"),
    "field.inside": Message("{place}: {field}"),
    "field.integer": Message("a whole number{bounds}"),
    "field.number": Message("a number{bounds}"),
    "field.duration": Message("a duration{bounds}, in seconds"),
    "field.text": Message("a string{length}"),
    "field.flag": Message("true or false"),
    "field.choice": Message("{choices:or}"),
    "field.list": Message("a list{length}"),
    "field.object": Message("an object with the fields listed in docs/api.md"),
    "bounds.above": Message(" above {least}"),
    "bounds.above_to": Message(" above {least}, at most {most}"),
    "bounds.from_to": Message(" from {least} to {most}"),
    "bounds.duration_above_to": Message(" above {least:duration}, at most {most:duration}"),
    "bounds.duration_from_to": Message(" from {least:duration} to {most:duration}"),
    "bounds.least": Message(" of at least {least}"),
    "bounds.most": Message(", at most {most}"),
    "length.text_least": Message(" of {least:n character} or more"),
    "length.text_most": Message(" of at most {most:n character}"),
    "length.text_from_to": Message(" of {least} to {most:n character}"),
    "length.list_least": Message(" of {least:n entry} or more"),
    "length.list_most": Message(" of at most {most:n entry}"),
    "length.list_from_to": Message(" of {least} to {most:n entry}"),
}
