"""`tarmac queue stop --requeue`: pause the queue, stop every running job and requeue it first."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.render.text import counted
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import out_json, say
from tarmac.errors import UserError
from tarmac.shared.units import spans
from tarmac.typed.values import seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    if not values["requeue"]:
        raise UserError(
            "queue stop: choose what happens to the running jobs",
            "to let them continue: `tarmac queue pause`\n"
            "to stop them and run them again later: `tarmac queue stop --requeue`\n"
            "to end them and all waiting jobs: `tarmac kill all`",
        )
    jobs = connect().stop_queue(grace_s=values["grace"])
    if values["json"]:
        out_json({"stopping": jobs})
        return 0
    asked = f"asked {counted(len(jobs), 'job')} to stop: {spans(jobs)}. " if jobs else "nothing was running. "
    say(f"{asked}The queue is paused; `tarmac queue resume` starts them again first")
    return 0


VERB = Verb(
    "queue stop",
    "pause the queue, stop all running jobs and requeue them first",
    usage=("tarmac queue stop --requeue [options]",),
    run=run,
    takes_words=False,
    options=(
        Option("--requeue", None, "run the stopped jobs again, from their beginning, after `queue resume`"),
        Option("--grace", None, "time until SIGKILL (default: that of each job); 0: at once", "DURATION", seconds),
        JSON,
    ),
    examples=(("tarmac queue stop --requeue", "before a reboot; then `tarmac queue resume`"),),
    notes=("A job with checkpoints can continue from its last one; any other starts again.",),
)
