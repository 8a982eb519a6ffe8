"""The command line: finds the verb, runs it, and turns errors into messages and an exit code.

Common verbs import only the C modules of the standard library; tests/cli/test_start_up.py enforces this.
"""

from __future__ import annotations

import gc
import os
import sys

from tarmac.cli.parser import HelpAsked, parse
from tarmac.cli.term import signals
from tarmac.errors import TarmacError, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from tarmac.cli.parser import Verb

ROOMS = {
    "submit": ("add", "sweep", "run", "adopt", "clone", "rerun", "template"),
    "look": ("ls", "show", "why", "log", "results", "wait", "gpus", "status", "report", "metrics", "web"),
    "change": (
        "kill", "rm", "hold", "release", "pause", "resume", "move", "edit", "start", "retry", "rename", "tag", "note",
    ),
    "keep": ("history", "clean", "export", "import", "backup", "restore", "diff", "checkout"),
    "admin": (
        "gpu", "node", "queue", "set", "serve", "stop", "doctor", "simulate", "reserve", "notice", "notify",
        "dial-stdio",
    ),
}  # fmt: skip
MODULES = {"import": "import_jobs"}  # `import` is a word of Python
VERBS = {verb: room for room, verbs in ROOMS.items() for verb in verbs}
INTERRUPTED = 130
# About files and processes of the controller's machine. With `-H`, they run there.
RUN_THERE = (
    "backup", "restore", "doctor", "stop", "serve", "log controller", "log agent", "node add", "node login",
)  # fmt: skip
HOST = "TARMAC_HOST"


def main() -> NoReturn:
    """The `tarmac` script. To save time, it disables garbage collection and exits without interpreter shutdown."""
    gc.disable()
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        _open_missing_streams()
    signals.leave_to_kernel(signals.SIGPIPE)  # `tarmac ls | head` ends as for any other program
    signals.on(signals.SIGINT, lambda _: os._exit(INTERRUPTED))
    os._exit(run_line(sys.argv[1:]))


def _open_missing_streams() -> None:
    """Reopen streams that the caller closed (`>&-`), so that no other file gets their descriptors."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def run_line(argv: Sequence[str]) -> int:
    try:
        return _dispatched(argv)
    except TarmacError as error:
        _complain(error.message, error.hint)
        return error.exit_code
    except OSError as error:
        _complain(f"{error.strerror or error}{f': {_name(error)}' if error.filename else ''}", None)
        return 1


def _name(error: OSError) -> str:
    return os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else str(error.filename)


def verb_named(name: str) -> Verb:
    """`gpu ignore-process` is cli/verbs/admin/gpu/ignore_process.py."""
    room = VERBS[name.partition(" ")[0]]
    module = MODULES.get(name) or name.replace(" ", ".").replace("-", "_")
    verb: Verb = __import__(f"tarmac.cli.verbs.{room}.{module}", fromlist=["VERB"]).VERB
    return verb


def _dispatched(argv: Sequence[str]) -> int:
    first = argv[0] if argv else "ls"
    if first in VERBS:
        return run_verb(verb_named(first), argv[1:])
    if first in {"--help", "-h", "help"}:
        return _help(argv[1:])
    if first in {"--version", "-V"}:
        return _version()
    if first.startswith(("-H", "--remote")):
        from tarmac.cli.remote.option import take_host

        os.environ[HOST], rest = take_host(argv)
        return _dispatched(rest)
    if first.startswith("-"):
        return run_verb(verb_named("ls"), argv)  # `tarmac -w`
    raise _unknown(argv)


def run_verb(verb: Verb, argv: Sequence[str]) -> int:
    try:
        values, words = parse(verb, argv)
    except HelpAsked:
        return _help(verb.name.split())
    if words and not verb.takes_words:
        raise UserError(f"{verb.name}: unexpected argument {words[0]!r}", f"run `tarmac {verb.name} --help` for help")
    if "remote" in values:
        os.environ[HOST] = values.pop("remote")
    if os.environ.get(HOST) and (verb.name in RUN_THERE or " ".join([verb.name, *words[:1]]) in RUN_THERE):
        from tarmac.cli.remote.there import run_there

        return run_there(os.environ[HOST], verb.name, argv)
    return verb.run(values, words)


def _help(words: Sequence[str]) -> int:
    from tarmac.cli import help as texts
    from tarmac.cli.term.terminal import out

    if words and words[0] not in VERBS:
        raise _unknown(words)
    if not words:
        out(texts.overview())
        return 0
    verb = verb_named(words[0])
    if len(words) > 1 and words[1] in verb.verbs:
        verb = verb_named(f"{words[0]} {words[1]}")
    out(texts.of_verb(verb))
    return 0


def _version() -> int:
    from tarmac import __version__
    from tarmac.cli.term.terminal import out

    out(f"tarmac {__version__}\n")
    return 0


def _unknown(argv: Sequence[str]) -> UserError:
    from tarmac.cli.render.text import command_line, safe
    from tarmac.cli.suggest import nearest_verb

    word = safe(argv[0])
    meant = nearest_verb(argv[0], VERBS)
    if meant is not None:
        hint = f"did you mean `tarmac {meant}`? Run `tarmac --help` to list the verbs"
    else:
        hint = f"to queue it as a command, run `tarmac add {safe(command_line(argv))}`; `tarmac --help` lists the verbs"
    return UserError(f"unknown verb {word}", hint)


def _complain(message: str, hint: str | None) -> None:
    from tarmac.cli.render.text import safe
    from tarmac.cli.term.terminal import STDERR, err, has_colours, paint

    name = paint("tarmac:", "bold red") if has_colours(STDERR) else "tarmac:"
    first, *more = (f"{message}\n{hint}" if hint else message).split("\n")
    err("\n".join([f"{name} {safe(first)}", *[f"  {safe(line)}" for line in more]]) + "\n")
