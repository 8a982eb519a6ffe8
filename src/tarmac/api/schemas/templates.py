"""Templates: options of jobs under a name."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from tarmac.api.schemas.job.forms import Fields
from tarmac.shared.numbers import LARGEST


class TemplateRequest(Struct, kw_only=True, forbid_unknown_fields=True):
    """Either `job`, the job whose options the template gets, or `form`, options as typed into a form."""

    job: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None
    form: Fields | None = None


class TemplateView(Struct, kw_only=True):
    """`options`: by their names in a submit. `form`: as one would type them. `job`: the job that it was made of."""

    name: str
    options: dict[str, Any]
    form: dict[str, Any]
    job: int | None
    saved_at: str


class TemplateList(Struct, kw_only=True):
    templates: list[TemplateView]
