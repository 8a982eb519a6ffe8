"""What a field of a request must be, in words: its name and everything that is allowed. Pure.

Derived from the schemas, so that words and checks cannot differ.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import inspect

from tarmac.api.wording.catalogue.catalogue import say
from tarmac.shared.job_options import BY_WIRE

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEP = re.compile(r"\w+|\[\d*\]")
_NAMED = re.compile(r"(missing required|contains unknown) field `([^`]*)`")
# As it is typed on the command line.
_TYPED = {option.wire: option.flag for option in BY_WIRE.values() if option.type != "path"}
_TYPED_PARAMETERS = {"lines": "-n"}


def wrong_field(model: Any, path: str, message: str) -> str:
    """What is wrong with the field at `path` of a request of that type; `message` comes from the decoder."""
    known = _shape(model)
    steps = _STEP.findall(path)
    if (named := _NAMED.search(message)) is not None:
        where = _name(steps)
        field = say("field.inside", place=where, field=named[2]) if where else named[2]
        if named[1].startswith("missing"):
            return say("field.missing", field=field)
        return say("field.unknown", field=field)
    for step in steps:
        known = _inside(known, step)
    field = _name(steps) or say("field.body")
    if steps and steps[-1].startswith("["):
        return say("field.each_must_be", field=field, allowed=allowed(known))
    return say("field.must_be", field=field, allowed=_allowed_in(steps[-1] if steps else "", known))


def wrong_parameter(name: str, kind: Any) -> str:
    """What the parameter of a query must be. It may share its name with an option of a job, but is another thing."""
    field = f"{name} ({_TYPED_PARAMETERS[name]})" if name in _TYPED_PARAMETERS else name
    return say("field.must_be", field=field, allowed=_allowed_in(name, _shape(kind)))


def unknown_parameter(name: str, known: Sequence[str]) -> str:
    return say("field.unknown_parameter", name=name, known=known)


@cache
def _shape(model: Any) -> inspect.Type:
    """Derived once: for a large body it takes several milliseconds, in which the controller does nothing else."""
    return inspect.type_info(model)


def _inside(known: inspect.Type, step: str) -> inspect.Type:
    known = _unwrapped(known)
    if isinstance(known, inspect.StructType):
        return next((field.type for field in known.fields if field.encode_name == step), inspect.AnyType())
    return getattr(known, "item_type", None) or getattr(known, "value_type", None) or inspect.AnyType()


def _unwrapped(known: inspect.Type) -> inspect.Type:
    """Without `or null`: leaving a field out means the same."""
    if isinstance(known, inspect.Metadata):
        return _unwrapped(known.type)
    if isinstance(known, inspect.UnionType):
        return _unwrapped(next(kind for kind in known.types if not isinstance(kind, inspect.NoneType)))
    return known


def _name(steps: Sequence[str]) -> str:
    """`gpus (--gpus)`; for one of many jobs of a submit, which one."""
    fields = [step for step in steps if not step.startswith("[")]
    if fields[:1] != ["jobs"] or len(steps) < 2:
        return _typed(fields[-1]) if fields and fields[-1] != "gpus" else "".join(fields)
    number = int(steps[1].strip("[]") or 0) + 1
    job = say("field.of_job", number=number) if number > 1 else ""
    field = _typed(fields[-1]) if len(fields) > 1 else ""
    return say("field.inside", place=job, field=field) if job and field else job or field


def _typed(field: str) -> str:
    return f"{field} ({_TYPED[field]})" if field in _TYPED else field


def _allowed_in(field: str, known: inspect.Type) -> str:
    """Durations are bounded in the units that one would type; their fields end in `_s`."""
    number = _unwrapped(known)
    if not field.endswith("_s") or not isinstance(number, inspect.FloatType) or number.le is None:
        return allowed(known)
    if number.gt is not None:
        return say("field.duration", bounds=say("bounds.duration_above_to", least=number.gt, most=number.le))
    return say("field.duration", bounds=say("bounds.duration_from_to", least=number.ge or 0, most=number.le))


def allowed(known: inspect.Type) -> str:
    match known:
        case inspect.Metadata(type=inner):
            return allowed(inner)
        case inspect.UnionType(types=kinds):
            return say(
                "field.choice", choices=[allowed(kind) for kind in kinds if not isinstance(kind, inspect.NoneType)]
            )
        case inspect.IntType() | inspect.FloatType():
            bounds = _between(known.ge, known.le, known.gt)
            is_whole = isinstance(known, inspect.IntType)
            return say("field.integer", bounds=bounds) if is_whole else say("field.number", bounds=bounds)
        case inspect.StrType():
            return say("field.text", length=_text_length(known.min_length, known.max_length))
        case inspect.BoolType():
            return say("field.flag")
        case inspect.LiteralType(values=values):
            return say("field.choice", choices=values)
        case inspect.ListType() | inspect.VarTupleType():
            return say("field.list", length=_list_length(known.min_length, known.max_length))
        case _:
            return say("field.object")


def _between(least: float | None, most: float | None, above: float | None = None) -> str:
    if above is not None:
        return say("bounds.above", least=above) if most is None else say("bounds.above_to", least=above, most=most)
    if least is not None and most is not None:
        return say("bounds.from_to", least=least, most=most)
    if least is not None:
        return say("bounds.least", least=least)
    return "" if most is None else say("bounds.most", most=most)


def _text_length(least: int | None, most: int | None) -> str:
    if least and most is not None:
        return say("length.text_from_to", least=least, most=most)
    if most is not None:
        return say("length.text_most", most=most)
    return "" if least is None else say("length.text_least", least=least)


def _list_length(least: int | None, most: int | None) -> str:
    if least and most is not None:
        return say("length.list_from_to", least=least, most=most)
    if most is not None:
        return say("length.list_most", most=most)
    return "" if least is None else say("length.list_least", least=least)
