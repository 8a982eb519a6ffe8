"""Names, projects, tags, notes and parameters of jobs: what they must not contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.refusal import invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def refuse_bad_labels(texts: Iterable[str | None], tags: Sequence[str]) -> None:
    """`texts`: names, projects and notes. Lists separate tags by commas, so a tag cannot contain one."""
    refuse_nul("labels", [*filter(None, texts), *tags])
    for tag in tags:
        if not tag.strip():
            raise invalid("label.empty_tag")
        if "," in tag or not tag.isprintable():
            raise invalid("label.bad_tag", tag=tag[:100])


def refuse_bad_params(params: Mapping[str, str]) -> None:
    """Of a sweep: the names stand in placeholders and conditions."""
    refuse_nul("params", params.values())
    for name in params:
        if not (name.isidentifier() and name.isascii()):
            raise invalid("submit.param_name", name=name[:100])


def refuse_nul(field: str, texts: Iterable[str]) -> None:
    if any("\0" in text for text in texts):
        raise invalid("submit.nul", field=field)
