"""The table of routes as an OpenAPI document. Pure: the schemas come from the types that validate and encode."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from tarmac import __version__
from tarmac.api.route import JSON, PREFIX
from tarmac.api.schemas.errors import ErrorAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tarmac.api.route import Route

Object: TypeAlias = dict[str, Any]

_IN_PATH = re.compile(r"{(\w+)(?::(\w+))?}")
_REFERENCE = "#/components/schemas/{name}"


def document(routes: Sequence[Route]) -> Object:
    named = (kind for route in routes for kind in (route.query, route.body, route.answer) if kind is not None)
    types = [*dict.fromkeys([ErrorAnswer, *named])]
    found, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    schemas: dict[Any, Object] = dict(zip(types, found, strict=True))
    paths: dict[str, Object] = {}
    for route in routes:
        parameters = _parameters(route, schemas, components)
        paths.setdefault(PREFIX + route.shown_path, {})[route.method.lower()] = {
            "operationId": route.handler.__name__,
            "summary": route.handler.__name__.replace("_", " "),
            "description": route.handler.__doc__ or "",
            "x-who-may": route.who,
            **({"parameters": parameters} if parameters else {}),
            **_request_body(route, schemas),
            "responses": _responses(route, schemas),
        }
    queries = {schemas[route.query]["$ref"].rpartition("/")[2] for route in routes if route.query is not None}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tarmac", "version": __version__},
        "paths": paths,
        "components": {"schemas": {name: schema for name, schema in components.items() if name not in queries}},
    }


def _parameters(route: Route, schemas: Mapping[Any, Object], components: Mapping[str, Object]) -> list[Object]:
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer" if kind == "number" else "string"}}
        for name, kind in _IN_PATH.findall(route.path)
    ]
    if route.query is None:
        return in_path
    known = components[schemas[route.query]["$ref"].rpartition("/")[2]]
    required = known.get("required", ())
    return in_path + [
        {"name": name, "in": "query", "required": name in required, "schema": schema}
        for name, schema in known["properties"].items()
    ]


def _request_body(route: Route, schemas: Mapping[Any, Object]) -> Object:
    if route.body is None and not route.takes_bytes:
        return {}
    schema = {"type": "string", "format": "binary"} if route.body is None else schemas[route.body]
    return {"requestBody": {"required": True, **_content(schema, route.body_type)}}


def _responses(route: Route, schemas: Mapping[Any, Object]) -> Object:
    answer = _content(schemas[route.answer], route.media_type)
    statuses = {route.status: HTTPStatus(route.status).phrase, **route.other_statuses}
    responses: Object = {str(status): {"description": when, **answer} for status, when in statuses.items()}
    return responses | {"default": {"description": "an error", **_content(schemas[ErrorAnswer])}}


def _content(schema: Object, media_type: str = JSON) -> Object:
    return {"content": {media_type: {"schema": schema}}}
