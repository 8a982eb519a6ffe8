"""The texts of `--help`, for Tarmac and for each verb. They fit the terminal, and 80 columns."""

from __future__ import annotations

from tarmac.cli.parser import Option
from tarmac.cli.render.text import wrapped
from tarmac.cli.term.terminal import has_colours, paint, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.cli.parser import Verb

WIDEST, NARROWEST = 80, 40
MOST_UNGROUPED = 16  # options that one list may have
LEAST_WORDS = 24  # columns for the explanations beside the flags; with less room, they go below
HELP = Option("--help", "-h", "show this help")
GROUPS = (
    ("Queue work", ("add", "sweep", "run", "adopt", "clone", "rerun", "template")),
    ("Inspect", ("ls", "show", "why", "log", "results", "gpus", "status", "report", "metrics", "web", "simulate")),
    ("Control jobs", ("wait", "kill", "rm", "pause", "resume", "hold", "release", "move", "edit", "start", "retry")),
    ("Describe jobs", ("rename", "tag", "note")),
    ("Code of jobs", ("diff", "checkout")),
    ("Keep and clean", ("history", "clean", "export", "import", "backup", "restore")),
    ("Queue, nodes and GPUs", ("queue", "reserve", "node", "gpu", "notice")),
    ("Tarmac itself", ("set", "notify", "serve", "stop", "doctor", "dial-stdio")),
)


def overview() -> str:
    from tarmac.cli.main import verb_named

    text = [*wrapped("Tarmac, a GPU job scheduler: each job takes off when a GPU is clear.", _width()), ""]
    text += [
        f"{_bold('Usage:')} tarmac [-H HOST] VERB [options]",
        "",
        *wrapped("`tarmac` alone lists the jobs.", _width()),
        "",
    ]
    for title, names in GROUPS:
        text += [_bold(title), *_columns([(name.ljust(10), verb_named(name).summary) for name in names]), ""]
    text += [_bold("Examples")]
    text += _examples(
        (
            ("tarmac add python train.py --lr 0.1", "queue it on one GPU; prints the id"),
            ("tarmac add -g 4 -c 'make && ./train'", "run a shell string on four GPUs"),
            ("tarmac log -f last", "follow the newest job's output"),
            ("tarmac ls -w", "the live table"),
            ("tarmac -H ssh://gpu01 ls", "the queue of another machine"),
        )
    )
    text += ["", *wrapped("-H ssh://[USER@]HOST[:PORT], or TARMAC_HOST: use another machine over ssh.", _width())]
    text += ["", *wrapped("Run `tarmac VERB --help` for details; --version prints the version.", _width())]
    return "\n".join(text) + "\n"


def of_verb(verb: Verb) -> str:
    text = [f"{_bold('Usage:')} {verb.usage[0]}", *[f"       {line}" for line in verb.usage[1:]], ""]
    text += [*wrapped(verb.summary[0].upper() + verb.summary[1:] + ".", _width()), ""]
    if verb.verbs:
        text += [_bold("Verbs"), *_columns(_verbs(verb)), ""]
    options = [*verb.options, HELP]
    wide = max(len(_flags(option)) for option in options)
    for title, group in _grouped(options):
        text += [_bold(title), *_columns([(_flags(option).ljust(wide), option.help) for option in group]), ""]
    if verb.examples:
        text += [_bold("Examples"), *_examples(verb.examples), ""]
    for note in verb.notes:
        text += wrapped(note, _width())
    return "\n".join(text).rstrip() + "\n"


def _width() -> int:
    return max(NARROWEST, min(WIDEST, width() or WIDEST))


def _verbs(verb: Verb) -> list[tuple[str, str]]:
    from tarmac.cli.main import verb_named

    return [(name, verb_named(f"{verb.name} {name}").summary) for name in verb.verbs]


def _grouped(options: Sequence[Option]) -> Iterator[tuple[str, list[Option]]]:
    """The options under headings if they are many. Those that only this verb has come first."""
    if len(options) <= MOST_UNGROUPED:
        yield "Options", list(options)
        return
    from tarmac.typed.option_groups import OPTION_GROUPS

    by_flag = {option.long: option for option in options}
    groups = [(title, [by_flag.pop(flag) for flag in flags if flag in by_flag]) for title, flags in OPTION_GROUPS]
    for title, group in [("Options", list(by_flag.values())), *groups]:
        if group:
            yield title, group


def _columns(pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Names beside their explanations; above them if the terminal is narrow."""
    wide = max(len(name) for name, _ in pairs)
    room = _width() - wide - 4
    for name, words in pairs:
        if room < LEAST_WORDS:
            yield f"  {name.rstrip()}"
            yield from (" " * 10 + line for line in wrapped(words, _width() - 10))
        else:
            first, *rest = wrapped(words, room)
            yield f"  {name.ljust(wide)}  {first}"
            yield from (" " * (wide + 4) + line for line in rest)


def _flags(option: Option) -> str:
    short = f"{option.short}, " if option.short else "    "
    return f"{short}{option.long}" + (f" {option.metavar}" if option.metavar else "")


def _examples(examples: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Command and comment on one line if all fit, otherwise the comment above the command."""
    wide = max(len(command) for command, _ in examples)
    has_room = wide + max(len(words) for _, words in examples) + 6 <= _width()
    for command, words in examples:
        if has_room:
            yield f"  {command.ljust(wide)}  {_dim('# ' + words)}"
        else:
            yield from (f"  {_dim('# ' + line)}" for line in wrapped(words, _width() - 4))
            yield from _continued(command)


def _continued(command: str) -> Iterator[str]:
    """A command over several lines, as a shell reads it: broken between arguments, never within quotes."""
    line = " "
    for word in _arguments(command):
        if len(line) > 1 and len(line) + 1 + len(word) + 2 > _width():
            yield f"{line} \\"
            line = "     "
        line += f" {word}"
    yield line


def _arguments(command: str) -> Iterator[str]:
    word, quote = "", ""
    for char in command:
        if char == " " and not quote:
            yield word
            word = ""
            continue
        if char in "'\"":
            quote = "" if char == quote else quote or char
        word += char
    yield word


def _bold(words: str) -> str:
    return paint(words, "bold") if has_colours() else words


def _dim(words: str) -> str:
    return paint(words, "dim") if has_colours() else words
