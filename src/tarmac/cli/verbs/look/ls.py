"""`tarmac ls`, also plain `tarmac`: the queue as a table."""

from __future__ import annotations

from tarmac.cli.args.selectors import FILTERS, IDS_NOTE, is_given, means_all, no_match
from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import STDERR, STDOUT, err, has_colours, is_terminal, out, width
from tarmac.typed.values import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values
    from tarmac.client import Client


def run(values: Values, words: list[str]) -> int:
    if values["watch"]:
        from tarmac.cli.term.live import watch
        from tarmac.cli.term.live_jobs import LiveJobs

        return watch("ls", LiveJobs(values, words))
    if values["json"]:
        return _print_json(values, words)
    from tarmac.cli.render.listing import Asked, fetch, lines

    client, asked = connect(), Asked(values, words)
    listing = fetch(client, asked)
    _warn(client)
    if not listing:
        return _say_that_nothing_matches(values, words)
    out("\n".join(lines(listing, width=width(), has_colours=has_colours())) + "\n")
    if listing.has_more and is_terminal(STDOUT) and is_terminal(STDERR):
        err("older jobs: tarmac ls -a\n")
    return 0


def _warn(client: Client) -> None:
    """Print the notice of the admins on stderr, and a warning if the queue is paused or draining."""
    from tarmac.cli.render.queue_mode import alarm
    from tarmac.cli.term.terminal import paint

    queue, colours = client.queue(), has_colours(STDERR)
    if queue.get("notice"):
        from tarmac.cli.render.notice import show_notice

        show_notice(queue.get("notice"))
    for line in alarm(queue, width(STDERR)):
        err((paint(line, "bold red") if colours else line) + "\n")


def _print_json(values: Values, words: list[str]) -> int:
    """Print all matching jobs, not only recent ones, as programs expect."""
    from tarmac.cli.term.terminal import out_json

    if values["groups"]:
        out_json(connect().groups(owner=values["owner"], limit=values["number"])[::-1])
        return 0
    if values["number"] is None and not is_terminal(STDOUT):
        return _pass_on_json(values, words)
    from tarmac.cli.render.listing import Asked

    jobs = list(connect().jobs(**Asked(values, words).query, newest_first=True, limit=values["number"]))
    out_json([job.raw for job in jobs][::-1])
    return 0 if jobs or not _is_filtered(values, words) else _say_that_nothing_matches(values, words)


def _pass_on_json(values: Values, words: list[str]) -> int:
    """The same for a program: tens of thousands of jobs, which need not be decoded here."""
    from tarmac.cli.render.listing import Asked
    from tarmac.cli.term.terminal import out_bytes
    from tarmac.client.encoded_jobs import encoded_jobs

    jobs = encoded_jobs(connect(), Asked(values, words).query)
    out_bytes(jobs + b"\n")
    return 0 if jobs != b"[]" or not _is_filtered(values, words) else _say_that_nothing_matches(values, words)


def _is_filtered(values: Values, words: list[str]) -> bool:
    is_selected = values["node"] is not None or (is_given(values, words) and not means_all(values, words))
    return is_selected and values["number"] != 0


def _say_that_nothing_matches(values: Values, words: list[str]) -> int:
    if _is_filtered(values, words):
        raise no_match()
    err("The queue is empty. To queue a command, run: tarmac add python train.py\n")
    return 0


VERB = Verb(
    "ls",
    "list jobs",
    usage=("tarmac ls [ID…] [options]", "tarmac"),
    run=run,
    options=(
        Option("--all", "-a", "list all jobs, not only active and the last 10 ended"),
        Option("--number", "-n", "list only the newest N ended jobs", "N", count),
        Option("--expand", "-x", "list the jobs of groups, too"),
        Option("--groups", None, "list groups only: arrays, sweeps and batches"),
        Option("--watch", "-w", "update the table until you press q or Ctrl-C"),
        *FILTERS,
        Option("--node", None, "select by the node that jobs run on, or ran on last", "NODE"),
        JSON,
    ),
    examples=(
        ("tarmac", "running, waiting and recently ended jobs"),
        ("tarmac ls -w", "the same, updated live"),
        ("tarmac ls --group last", "the jobs of your newest sweep, array or batch"),
        ("tarmac ls --node gpu02 --state running", "what runs on one node"),
        ("tarmac ls --group 7 --state failed", "the failed jobs of group 7"),
        ("tarmac ls --json | jq '.[].state'", "all jobs with all fields"),
    ),
    notes=(
        IDS_NOTE,
        "A group of jobs has one line, with what differs between its jobs. --expand, --group and ids list jobs.",
        "GPUS: the indices of its GPUs, or in brackets the number it waits for.",
        "Waiting jobs are listed in the order of the queue. A ~ marks an estimate; `tarmac why ID` explains it.",
    ),
)
