"""Output files of `add` with placeholders."""

import pytest

from tarmac.errors import UserError
from tarmac.shared import fill
from tarmac.typed.output_paths import template_of


@pytest.mark.parametrize(
    ("path", "filled"),
    [
        ("out/{id}.log", "out/7.log"),
        ("{name}-{index}", "big-3"),
        ("a{}{id}", "a{}7"),
        ("{{id}}-x", "{id}-x"),
        ("{{b}}", "{b}"),
    ],
)
def test_placeholders_are_filled_in_and_other_braces_stay(path: str, filled: str) -> None:
    template = template_of(path)
    assert template is not None
    assert fill.fill(template, {"id": "7", "name": "big", "index": "3"}) == filled


@pytest.mark.parametrize("path", ["plain.log", "a{1,2}.log", "{}", "{"])
def test_a_path_without_placeholders_stays_as_it_is(path: str) -> None:
    assert template_of(path) is None


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("{nme}.log", "did you mean {name}? Write {{nme}} for braces"),
        ("{id}-{xyz}", "use {id}, {name} or, in an array"),
    ],
)
def test_an_unknown_placeholder_is_refused_with_the_nearest(path: str, hint: str) -> None:
    with pytest.raises(UserError, match="is not a placeholder") as refused:
        template_of(path)
    assert (refused.value.hint or "").startswith(hint)
