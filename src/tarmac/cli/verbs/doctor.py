"""`tarmac doctor`: checks the installation and suggests fixes. Starts nothing, changes nothing."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Verb
from tarmac.cli.render.text import safe
from tarmac.cli.term.terminal import has_colours, out, out_json, paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "bad": ("✗", "bold red")}


def run(values: Values, _: list[str]) -> int:
    from tarmac.cli.diagnostics import examine

    findings = examine()
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


VERB = Verb(
    "doctor",
    "check the installation and suggest fixes",
    usage=("tarmac doctor [--json]",),
    run=run,
    takes_words=False,
    options=(JSON,),
    examples=(("tarmac doctor", "exits with 1 if something is wrong"),),
    notes=("It starts no controller; without one, it checks only what it can see without it.",),
)
