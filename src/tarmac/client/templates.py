"""Templates: options of jobs under a name, kept by the controller for each user."""

from __future__ import annotations

from tarmac.client.connection import quoted
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypedDict

    from tarmac.client.connection import Link

    class Template(TypedDict):
        name: str
        options: dict[str, Any]  # by their names in a submit
        job: int | None  # that it was made of; None: of a form
        saved_at: str


def _path(name: str) -> str:
    """Raises UserError for a name that cannot be part of an address."""
    if not name.strip() or "/" in name or name in {".", ".."}:
        raise UserError(
            f"{name!r} is not a name for a template: it must not be empty, a dot, or contain a slash",
            "choose a name such as big; `tarmac template ls` lists your templates",
        )
    return f"/templates/{quoted(name)}"


def template(client: Link, name: str) -> Template:
    found: Template = client.call("GET", _path(name))
    return found


def templates(client: Link) -> list[Template]:
    found: list[Template] = client.call("GET", "/templates")["templates"]
    return found


def save_template(client: Link, name: str, job: int) -> Template:
    """The options of this job under a name, which may have been used before."""
    saved: Template = client.call("PUT", _path(name), body={"job": job})
    return saved


def remove_template(client: Link, name: str) -> None:
    client.call("DELETE", _path(name))
