"""The texts of `--help`, for Tarmac and for each verb. They fit 80 columns."""

from __future__ import annotations

from tarmac.cli.render.text import wrapped
from tarmac.cli.term.terminal import has_colours, paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.cli.parser import Option, Verb

WIDTH = 80
GROUPS = (
    ("Queue work", ("add", "run", "adopt")),
    ("Inspect", ("ls", "show", "why", "log", "gpus", "status", "report", "metrics", "simulate")),
    ("Control jobs", ("wait", "kill", "rm", "pause", "resume", "hold", "release", "move", "edit", "start", "retry")),
    ("Queue and GPUs", ("queue", "reserve", "gpu", "notice")),
    ("Tarmac itself", ("set", "notify", "serve", "stop", "doctor")),
)


def overview() -> str:
    from tarmac.cli.main import verb_named

    text = ["Tarmac, a GPU job scheduler: each job takes off when a GPU is clear.", ""]
    text += [f"{_bold('Usage:')} tarmac VERB [options]      `tarmac` alone lists the jobs", ""]
    for title, names in GROUPS:
        text.append(_bold(title))
        text += [f"  {name:<10}{verb_named(name).summary}" for name in names]
        text.append("")
    text += [_bold("Examples")]
    text += _examples(
        (
            ("tarmac add python train.py --lr 0.1", "queue it on one GPU; prints the id"),
            ("tarmac add -g 4 -c 'make && ./train'", "run a shell string on four GPUs"),
            ("tarmac log -f last", "follow the newest job's output"),
            ("tarmac ls -w", "the live table"),
        )
    )
    text += ["", "Run `tarmac VERB --help` for details; --version prints the version."]
    return "\n".join(text) + "\n"


def of_verb(verb: Verb) -> str:
    text = [f"{_bold('Usage:')} {verb.usage[0]}", *[f"       {line}" for line in verb.usage[1:]], ""]
    text += [*wrapped(verb.summary[0].upper() + verb.summary[1:] + ".", WIDTH), ""]
    if verb.verbs:
        text += [_bold("Verbs"), *_verbs(verb), ""]
    text += [_bold("Options"), *_options(verb), ""]
    if verb.examples:
        text += [_bold("Examples"), *_examples(verb.examples), ""]
    for note in verb.notes:
        text += wrapped(note, WIDTH)
    return "\n".join(text).rstrip() + "\n"


def _verbs(verb: Verb) -> Iterator[str]:
    from tarmac.cli.main import verb_named

    wide = max(map(len, verb.verbs))
    for name in verb.verbs:
        yield f"  {name.ljust(wide)}  {verb_named(f'{verb.name} {name}').summary}"


def _options(verb: Verb) -> Iterator[str]:
    pairs = [(_flags(option), option.help) for option in verb.options]
    pairs.append(("-h, --help", "show this help"))
    wide = max(len(flags) for flags, _ in pairs)
    for flags, words in pairs:
        first, *rest = wrapped(words, WIDTH - wide - 4)
        yield f"  {flags.ljust(wide)}  {first}"
        yield from (" " * (wide + 4) + line for line in rest)


def _flags(option: Option) -> str:
    short = f"{option.short}, " if option.short else "    "
    return f"{short}{option.long}" + (f" {option.metavar}" if option.metavar else "")


def _examples(examples: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Command and comment on one line if all fit, otherwise on two."""
    wide = max(len(command) for command, _ in examples)
    has_room = wide + max(len(words) for _, words in examples) + 6 <= WIDTH
    for command, words in examples:
        if has_room:
            yield f"  {command.ljust(wide)}  {_dim('# ' + words)}"
        else:
            yield from (f"  {_dim('# ' + words)}", f"  {command}")


def _bold(words: str) -> str:
    return paint(words, "bold") if has_colours() else words


def _dim(words: str) -> str:
    return paint(words, "dim") if has_colours() else words
