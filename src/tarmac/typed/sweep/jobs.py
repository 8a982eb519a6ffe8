"""The jobs of a sweep: its template, the rows that it is filled in with, and the body of each job."""

from __future__ import annotations

from tarmac.errors import UserError
from tarmac.shared.fill import NAMES
from tarmac.typed.requests import PATHS, request_of
from tarmac.typed.sweep.grid import USUAL, Grid, Limits, selected
from tarmac.typed.sweep.options import Deferred, deferred_in, read_for
from tarmac.typed.sweep.parameters import read_parameters
from tarmac.typed.sweep.template import Command, ShellString, refuse_unknown
from tarmac.typed.sweep.where import condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.typed.option import Values
    from tarmac.typed.requests import Body, GroupBody, NumberOf

    Row = dict[str, str]


def template_of(values: Values, words: list[str]) -> tuple[Command | ShellString, list[str]]:
    fill = NAMES if values["fill"] else ()
    if values["shell"] is not None:
        return ShellString(values["shell"], fill=fill), words
    if not words:
        raise UserError(
            "sweep: the command is missing",
            "quote it as one word: tarmac sweep 'python train.py --lr {lr}' lr=1e-3,3e-4",
        )
    return Command(words[0], fill=fill), words[1:]


def rows_of(
    values: Values, template: Command | ShellString, words: list[str], listed: list[Row], limits: Limits = USUAL
) -> list[Row]:
    """The rows that are selected. `listed`: those of a file, or one row without values."""
    parameters = read_parameters(words)
    twice = next((one.name for one in parameters if one.name in listed[0]), None)
    if twice is not None:
        raise UserError(f"sweep: parameter {twice} is also a column of {values['from']}", "leave out one of them")
    names = [*listed[0], *(parameter.name for parameter in parameters)]
    if not names:
        raise UserError("sweep: no parameters given", "give some, such as lr=1e-3,3e-4 seed=1..5, or --from params.csv")
    used = [*template.names, *(name for one in deferred_in(values) for name in one.text.names)]
    if values["fill"] and (shadowed := next((name for name in names if name in NAMES), None)) is not None:
        raise UserError(
            f"sweep: with --fill, a parameter cannot be named {shadowed}",
            f"choose another name: {{{shadowed}}} is filled in when the job starts",
        )
    refuse_unknown(names, list(dict.fromkeys(used)), listed[0])
    grid = Grid(parameters, listed, is_zipped=values["zip"])
    where = None if values["where"] is None else condition(values["where"], names)
    return selected(grid, where, values["sample"], values["seed"] or 0, limits)


def refuse_seed_alone(values: Values) -> None:
    if values["sample"] is None and values["seed"] is not None:
        raise UserError("sweep: --seed applies to --sample", "leave it out; write seed=1..5 for a parameter")


def requests_of(
    values: Values, template: Command | ShellString, rows: list[Row], number_of: NumberOf | None = None
) -> list[Body]:
    """The bodies of the jobs. What does not depend on a row is read once."""
    has_shell = isinstance(template, ShellString)
    base: Body | None = None
    if not any(True for _ in deferred_in(values)):
        base = request_of(
            "sweep", _with_command(values, template.filled(rows[0])), _words(template, rows[0]), number_of
        )
    found = []
    for row in rows:
        line = template.filled(row)
        if base is None:
            one = read_for(values, row)
            request = request_of("sweep", _with_command(one, line), [] if has_shell else list(line), number_of)
        else:
            request = {**base, "command": line}
        if any(isinstance(values[name], Deferred) for name in PATHS):
            request["fill_paths"] = True
        request["params"] = row
        found.append(request)
    return found


def _with_command(values: Values, line: list[str] | str) -> Values:
    return {**values, "shell": line if isinstance(line, str) else None}


def _words(template: Command | ShellString, row: Row) -> list[str]:
    return template.filled(row) if isinstance(template, Command) else []


def group_of(values: Values, words: list[str]) -> GroupBody:
    name = values["group"] or (values["name"] if isinstance(values["name"], str) else None)
    return {"kind": "sweep", "name": name, "command": words[0] if values["shell"] is None else values["shell"]}
