"""What a field of a request should have been, in words: its name, and all that is allowed. Pure.

Worked out from the schemas themselves, so that words and checks cannot differ.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import inspect

from tarmac.shared.job_options import BY_WIRE

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEP = re.compile(r"\w+|\[\d*\]")
_NAMED = re.compile(r"(missing required|contains unknown) field `([^`]*)`")
# As it is typed on the command line.
_TYPED = {option.wire: option.flag for option in BY_WIRE.values() if option.type != "path"} | {"lines": "-n"}


def wrong_field(model: Any, path: str, message: str) -> str:
    """What is wrong with the field at `path` of a request of that type; `message` is what the decoder said."""
    known = inspect.type_info(model)
    steps = _STEP.findall(path)
    if (named := _NAMED.search(message)) is not None:
        where = _name(steps)
        field = f"{where}: {named[2]}" if where else named[2]
        return f"{field} is missing" if named[1].startswith("missing") else f"{field} is no field of this request"
    for step in steps:
        known = _inside(known, step)
    each = "each of " if steps and steps[-1].startswith("[") else ""
    return f"{each}{_name(steps) or 'the body'} must be {allowed(known)}"


def _inside(known: inspect.Type, step: str) -> inspect.Type:
    known = _unwrapped(known)
    if isinstance(known, inspect.StructType):
        return next((field.type for field in known.fields if field.encode_name == step), inspect.AnyType())
    return getattr(known, "item_type", None) or getattr(known, "value_type", None) or inspect.AnyType()


def _unwrapped(known: inspect.Type) -> inspect.Type:
    """Without `or nothing`: leaving a field out is always another way of saying that."""
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
    job = f"job {number} of the submit" if number > 1 else ""
    return ": ".join(part for part in (job, _typed(fields[-1]) if len(fields) > 1 else "") if part)


def _typed(field: str) -> str:
    return f"{field} ({_TYPED[field]})" if field in _TYPED else field


def allowed(known: inspect.Type) -> str:
    match known:
        case inspect.Metadata(type=inner):
            return allowed(inner)
        case inspect.UnionType(types=kinds):
            return " or ".join(allowed(kind) for kind in kinds if not isinstance(kind, inspect.NoneType))
        case inspect.IntType() | inspect.FloatType():
            noun = "a whole number" if isinstance(known, inspect.IntType) else "a number"
            return noun + _between(known.ge, known.le, known.gt)
        case inspect.StrType():
            return "a text" + _long(known.min_length, known.max_length, "character")
        case inspect.BoolType():
            return "true or false"
        case inspect.LiteralType(values=values):
            return " or ".join(map(str, values))
        case inspect.ListType() | inspect.VarTupleType():
            return "a list" + _long(known.min_length, known.max_length, "entry")
        case _:
            return "an object with the fields that docs/api.md names"


def _between(least: float | None, most: float | None, above: float | None = None) -> str:
    if above is not None:
        return f" above {above:.15g}" + ("" if most is None else f", at most {most:.15g}")
    if least is not None and most is not None:
        return f" from {least:.15g} to {most:.15g}"
    return f", {least:.15g} or more" if least is not None else "" if most is None else f", at most {most:.15g}"


def _long(least: int | None, most: int | None, noun: str) -> str:
    if least is None and most is None:
        return ""
    many = noun.removesuffix("y") + "ies" if noun.endswith("y") else f"{noun}s"
    if most is None:
        return f" of {least} {noun if least == 1 else many} or more"
    return f" of {least} to {most} {many}" if least else f" of at most {most} {many}"
