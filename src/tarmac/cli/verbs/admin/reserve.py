"""`tarmac reserve`: reserve GPUs for a user; list and end reservations."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb, shown
from tarmac.cli.render.text import safe
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, has_colours, out, out_json, say, width
from tarmac.errors import UserError
from tarmac.typed.values import duration, moment, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

HOW = "`tarmac reserve 4 --from 22:00 --for 6h`; `tarmac reserve` lists, `tarmac reserve end 3` ends one"


def run(values: Values, words: list[str]) -> int:
    given = [f"--{name}" for name in ("from", "for", "user") if values[name] is not None]
    if words[:1] == ["end"] or values["list"]:
        verb = "end" if words[:1] == ["end"] else "--list"
        more = [*given, *(["--list"] if values["list"] and verb == "end" else words if verb == "--list" else [])]
        if more:
            raise UserError(f"reserve: {verb} and {' '.join(more)} exclude each other", HOW)
    if words[:1] == ["end"]:
        return _end(values, words[1:])
    if values["list"] or not (words or given):
        return _list(values)
    return _make(values, words)


def _make(values: Values, words: list[str]) -> int:
    if len(words) != 1:
        raise UserError("reserve: the number of GPUs is missing", HOW)
    gpus = _number("a number of GPUs", words[0])
    if values["for"] is None:
        raise UserError("reserve: the duration is missing", "add --for 6h; " + HOW)
    from time import time

    begins_at = time() if values["from"] is None else values["from"]
    made = connect().reserve(gpus, begins_at=begins_at, for_s=values["for"], user=values["user"])
    if values["json"]:
        out_json(made)
        return 0
    from tarmac.cli.render.admin.reservations import in_words

    out(f"{made['id']}\n")
    for warning in made.get("warnings", ()):
        err(f"tarmac: {safe(warning)}\n")
    say(f"{in_words(made)}; `tarmac reserve end {made['id']}` ends it")
    return 0


def _list(values: Values) -> int:
    kept = connect().reservations()
    if values["json"]:
        out_json(kept)
    elif not kept:
        say(f"No reservations. To make one: {HOW.partition(';')[0]}")
    else:
        from tarmac.cli.render.admin.reservations import table

        out("\n".join(table(kept, width=width(), has_colours=has_colours())) + "\n")
    return 0


def _end(values: Values, words: list[str]) -> int:
    numbers = [_number("the id of a reservation", word) for word in words]
    if not numbers:
        raise UserError("reserve end: no reservation given", "run `tarmac reserve` to list them")
    client = connect()
    for number in numbers:
        client.end_reservation(number)
    if values["json"]:
        out_json({"ended": numbers})
    else:
        say(f"reservation {', '.join(map(str, numbers))} ended; its GPUs are available to all users again")
    return 0


def _number(what: str, word: str) -> int:
    try:
        return positive(word)
    except ValueError as error:
        raise UserError(f"reserve: {shown(word)} is not {what}: {error}", HOW) from None


VERB = Verb(
    "reserve",
    "reserve GPUs for a user for some time",
    usage=(
        "tarmac reserve N --for DURATION [--from TIME] [--user NAME]",
        "tarmac reserve [--list]",
        "tarmac reserve end ID…",
    ),
    run=run,
    options=(
        Option("--from", None, "when it begins (default: now): 22:00, 'in 3h', ISO", "TIME", moment),
        Option("--for", None, "how long it lasts: 6h, 90m, 1-12:00:00", "DURATION", duration),
        Option("--user", None, "user whose jobs may use the GPUs (default: you)", "NAME"),
        Option("--list", "-l", "list the reservations, like `tarmac reserve` alone"),
        JSON,
    ),
    examples=(
        ("tarmac reserve 4 --from 'tomorrow 9:00' --for 6h", "prints the id of the reservation"),
        ("tarmac reserve 2 --for 90m --user ann", "from now on, for the jobs of ann"),
        ("tarmac reserve", "list the reservations"),
        ("tarmac reserve end 3", "end it"),
    ),
    notes=(
        "For admins: root, the user who runs Tarmac, and those in `tarmac set admins`.",
        "Jobs of other users that would still run when it begins are not started on these GPUs.",
        "Warnings go to stderr: jobs that may still run when it begins, an unknown user.",
        "It ends early if no job of that user starts for a while: `tarmac set no_show_s`.",
    ),
)
