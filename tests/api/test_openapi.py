"""The OpenAPI document, made from the table of routes."""

import re

from tarmac.api.openapi import document
from tarmac.api.route import PREFIX
from tarmac.api.routes.table import ROUTES


def test_openapi_describes_every_row() -> None:
    paths = document(ROUTES)["paths"]
    described = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert described == {f"{route.method} {PREFIX}{route.shown_path}" for route in ROUTES}


def test_openapi_refers_only_to_schemas_it_contains() -> None:
    described = document(ROUTES)
    referred = set(re.findall(r"#/components/schemas/(\w+)", str(described)))
    assert referred <= set(described["components"]["schemas"])


def test_openapi_tells_parameters_bodies_and_bounds() -> None:
    paths = document(ROUTES)["paths"]
    listed = paths["/api/v1/jobs"]["get"]
    limit = next(one for one in listed["parameters"] if one["name"] == "limit")
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 1000}
    waited = paths["/api/v1/jobs/wait"]["get"]["parameters"]
    assert [one["name"] for one in waited if one["required"]] == ["ids"]
    assert set(paths["/api/v1/jobs"]["post"]["responses"]) == {"200", "201", "default"}
    assert paths["/api/v1/reservations/{id}/end"]["post"]["parameters"][0]["schema"] == {"type": "integer"}
    assert "text/event-stream" in paths["/api/v1/events"]["get"]["responses"]["200"]["content"]
