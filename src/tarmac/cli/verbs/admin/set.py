"""`tarmac set`: show the settings, and change them at run time."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import has_colours, out, out_json, say, width
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, words: list[str]) -> int:
    name, value = _asked(words, is_reset=values["reset"])
    client = connect()
    if name is None:
        settings = client.settings()
        if values["json"]:
            out_json([setting.raw for setting in settings])
        else:
            from tarmac.cli.render.admin.settings import table

            out("\n".join(table(settings, width=width(), has_colours=has_colours())) + "\n")
        return 0
    if values["reset"]:
        setting = client.reset(name)
    elif value is not None:
        setting = client.set(name, value)
    else:
        setting = client.setting(name)
    if values["json"]:
        out_json(setting.raw)
    elif value is None and not values["reset"]:
        from tarmac.cli.render.admin.settings import description

        out("\n".join(description(setting, width=width(), has_colours=has_colours())) + "\n")
    else:
        from tarmac.cli.render.admin.settings import shown

        say(f"{setting.name} is {shown(setting, 'value')} ({setting.origin}), from now on")
    return 0


def _asked(words: list[str], *, is_reset: bool) -> tuple[str | None, str | None]:
    """Name and value; also accepts NAME=VALUE."""
    if len(words) == 1 and "=" in words[0]:
        words = words[0].split("=", 1)
    if len(words) == 3 and words[1] == "=":
        words = [words[0], words[2]]
    if is_reset and len(words) != 1:
        raise UserError("set: --reset takes one name and no value", "run `tarmac set max_load --reset`")
    if len(words) > 2:
        raise UserError("set takes one value", "use `tarmac set max_load 0.2`; quote a value that contains spaces")
    return words[0] if words else None, words[1] if len(words) > 1 else None


VERB = Verb(
    "set",
    "show or change settings",
    usage=("tarmac set [NAME [VALUE]] [options]", "tarmac set NAME --reset"),
    run=run,
    options=(Option("--reset", None, "return to the value in the config file, or to the default"), JSON),
    examples=(
        ("tarmac set", "all settings: value, default, origin, meaning"),
        ("tarmac set max_load", "one setting"),
        ("tarmac set max_load 20%", "change it, at once and permanently"),
        ("tarmac set idle_warn_s 45m", "durations: 90, 30m, 1.5h"),
        ("tarmac set max_load --reset", "undo that"),
    ),
    notes=("ORIGIN: default, config (the config file), or live (set by this command, which overrides the file).",),
)
