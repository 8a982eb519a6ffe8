"""`tarmac doctor`: checks what the first command needs, and suggests fixes. It starts nothing and leaves no trace."""

from __future__ import annotations

import os

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import safe
from tarmac.cli.term import signals
from tarmac.cli.term.terminal import has_colours, out, out_json, paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.cli.parser import Values
    from tarmac.cli.verbs.admin.doctor.finding import Finding

SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "bad": ("✗", "bold red")}


class _Interrupted(BaseException):
    """Ends the checks, which remove what they created. A second signal ends the command at once."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def run(values: Values, _: list[str]) -> int:
    try:
        findings = _examine()
    except _Interrupted as interrupted:
        return interrupted.exit_code
    if values["json"]:
        out_json([finding.as_json() for finding in findings])
    else:
        colours = has_colours()
        for finding in findings:
            sign, style = SIGNS[finding.verdict]
            out(f"{paint(sign, style) if colours else sign} {finding.name}: {safe(finding.text)}\n")
            if finding.advice:
                out(f"    {safe(finding.advice)}\n")
    return 1 if any(finding.verdict == "bad" for finding in findings) else 0


def _examine() -> list[Finding]:
    from tarmac.cli.verbs.admin.doctor.installation import check_installation, check_start
    from tarmac.cli.verbs.admin.doctor.running import Reached, check_running
    from tarmac.cli.verbs.admin.doctor.state import check_state, locate_state

    state, trouble = locate_state()
    if state is None:
        return [*check_installation(), *check_start(None, at_rest=False), *([trouble] if trouble else [])]
    reached = Reached()
    _on_signals(_interrupt)  # until here nothing was created
    found = [*check_installation(), *check_start(state, at_rest=reached.is_absent), *check_state(state)]
    refused = {finding.name for finding in found if finding.verdict == "bad"}
    running = check_running(state, reached)
    return found + [finding for finding in running if finding.name not in refused or finding.verdict == "bad"]


def _on_signals(act: Callable[[int], None]) -> None:
    for number in (signals.SIGINT, signals.SIGTERM, signals.SIGHUP):
        signals.on(number, act)


def _interrupt(number: int) -> None:
    _on_signals(lambda number: os._exit(128 + number))
    raise _Interrupted(number)


VERB = Verb(
    "doctor",
    "check the installation and suggest fixes",
    usage=("tarmac doctor [--json]",),
    run=run,
    takes_words=False,
    options=(JSON,),
    examples=(("tarmac doctor", "exits with 1 if something is wrong"),),
    notes=(
        "It checks everything that the first command needs, also in the state directory, and leaves no trace.",
        "It does not start a controller. GPUs and nodes are checked only if one is running.",
    ),
)
