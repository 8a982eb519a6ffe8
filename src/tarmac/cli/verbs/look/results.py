"""`tarmac results`: a table of parameters and metrics, sorted by a metric."""

from __future__ import annotations

from tarmac.cli.args.patterns import pattern
from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, filters_of, ids_of, is_span
from tarmac.cli.parser import Option, Verb, text
from tarmac.cli.render.text import counted, safe
from tarmac.cli.results.asked import asked_metrics, is_json_file, is_picture_file, refuse_other_formats
from tarmac.cli.results.rows import sorting_metric
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import err, has_colours, out, out_json, say, width
from tarmac.errors import UserError
from tarmac.shared.tables.results import best_first, columns_of, is_smaller_better, results_csv
from tarmac.shared.units import spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client.answers import Results


_TITLES = ("id", "state", "index", "name")


def run(values: Values, words: list[str]) -> int:
    files = [word for word in values["json"] if word is not True]
    if len(files) > 1:
        raise UserError("results: --json names two files", "give one file")
    refuse_other_formats(values["plot"])
    _refuse_two_outputs(values)
    asked = asked_metrics(values["metric"], files[0] if files else None)
    ids, group = _selected(values, words)
    if values["min"] and values["max"]:
        raise UserError("results: --min and --max exclude each other", "leave out one of them")
    answer = connect().results(*ids, **asked, **{**filters_of(values), **group})
    metric = sorting_metric(answer, values["sort"])
    smaller_first = bool(values["min"]) or (not values["max"] and is_smaller_better(metric or ""))
    answer["jobs"] = best_first(answer["jobs"], metric, smaller_first=smaller_first)
    if answer["unread"]:
        err(f"tarmac: could not read the files of jobs {spans(answer['unread'])}\n")
    for name in answer["metrics"]:
        if all(job["metrics"][name] is None for job in answer["jobs"]):
            err(f"tarmac: no job has a value for {safe(name)}\n")
    if files and not answer["metrics"] and not answer["unread"]:
        err(f"tarmac: no job has values in {safe(files[0])}; it must be JSON, in the working directory of each job\n")
    _draw(values, answer, metric)
    if True in values["json"]:
        out_json(answer)
    elif values["csv"]:
        out(results_csv(answer["metrics"], answer["jobs"]))
    elif True not in values["plot"]:
        _print_table(answer, metric)
    return 0


def _refuse_two_outputs(values: Values) -> None:
    asked = {"--json": True in values["json"], "--csv": values["csv"], "--plot": True in values["plot"]}
    flags = [flag for flag, is_asked in asked.items() if is_asked]
    if len(flags) > 1:
        hint = "leave out one of them" if flags[-1] != "--plot" else "write the plot to a file: --plot acc.svg"
        raise UserError(f"results: {flags[0]} and {flags[-1]} exclude each other", hint)


def _selected(values: Values, words: list[str]) -> tuple[list[str], dict[str, str]]:
    """A single word is a group, by id or name. The default is the newest group."""
    if not words:
        return [], {} if filters_of(values) else {"group": "last"}
    is_range = "," in words[0] or ("-" in words[0] and is_span(words[0]))
    if len(words) == 1 and values["group"] is None and not is_range:
        return [], {"group": words[0]}
    return ids_of(words), {}


def _draw(values: Values, answer: Results, metric: str | None) -> None:
    if not values["plot"]:
        return
    if metric is None:
        raise UserError("results: --plot needs a metric, and no job has one", "check the pattern with `tarmac log ID`")
    if missing := sum(not isinstance(job["metrics"].get(metric), (int, float)) for job in answer["jobs"]):
        verb = "is" if missing == 1 else "are"
        err(f"tarmac: {counted(missing, 'job')} without a number for {safe(metric)} {verb} left out of the plot\n")
    for file in values["plot"]:
        if file is True:
            from tarmac.cli.results.bars import bars

            out("\n".join(bars(answer["jobs"], metric, width())) + "\n")
            continue
        from tarmac.cli.results.svg import picture

        group = answer["group"]
        title = metric if group is None else f"{metric} of {group['kind']} {group['name'] or group['id']}"
        try:
            with open(file, "w", encoding="utf-8") as svg:
                svg.write(picture(answer["jobs"], metric, title))
        except OSError as error:
            raise UserError(f"results: {file}: {error.strerror}", "choose another file") from None
        say(f"wrote {file}")


def _print_table(answer: Results, metric: str | None) -> None:
    from tarmac.cli.render.job import COLOURS
    from tarmac.cli.render.table import Column, lines

    found = columns_of(answer["metrics"], answer["jobs"])
    hues = [COLOURS.get(job["state"]) for job in answer["jobs"]] if has_colours() else None
    columns = [
        Column(
            title.upper() if title in _TITLES and title not in answer["metrics"] else title,
            texts,
            is_right=title == "id" or title in answer["metrics"],
            styles=hues if title == "state" else None,
            least=None if title in {"id", metric} else 6,
        )
        for title, texts in found.items()
    ]
    out("\n".join(lines(columns, width(), ("STATE",))) + "\n")


VERB = Verb(
    "results",
    "compare the metrics of jobs, best first",
    usage=("tarmac results [GROUP] --metric REGEX… [options]", "tarmac results [ID…] --json FILE [options]"),
    run=run,
    options=(
        Option("--metric", "-m", "last match in the log: 'acc=([\\d.]+)'; with --json FILE, a key", "REGEX", pattern,
               has_many=True),
        Option("--json", None, "read metrics from this JSON file of each job; without FILE, print JSON", "[FILE]", text,
               has_many=True, takes=is_json_file),
        Option("--sort", None, "sort by this metric (default: the first)", "METRIC"),
        Option("--min", None, "smaller is better (default: by the metric's name)"),
        Option("--max", None, "larger is better"),
        Option("--csv", None, "print CSV"),
        Option("--plot", None, "write a plot to this file; without FILE, draw bars in the terminal", "[FILE.svg]", text,
               has_many=True, takes=is_picture_file),
        *FILTERS,
    ),
    examples=(
        ("tarmac results 7 --metric 'acc=([\\d.]+)'", "the jobs of group 7, best first"),
        ("tarmac results last -m 'val_loss: (\\S+)' -m 'acc=(\\S+)' --plot", "two metrics, and bars"),
        ("tarmac results first --json metrics.json --metric val.acc --csv", "a key of a file that each job wrote"),
        ("tarmac results first --json metrics.json --json", "the same file; print JSON"),
        ("tarmac results 7 -m 'loss=(\\S+)' --plot loss.svg", "a plot"),
    ),
    notes=(
        "GROUP is the id or name of a group, or `last`, the default. " + IDS_NOTE,
        "A named group names its metric: '(?P<acc>[\\d.]+) top-1'. Otherwise the text before = or : does.",
        "The word after --json is a file if it ends in .json or .jsonl or contains a slash; --json=FILE always is.",
    ),
)  # fmt: skip
