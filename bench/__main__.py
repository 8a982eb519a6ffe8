"""`python -m bench [--json]`: measures the floors, then Tarmac, and prints the ratios."""

import itertools
import json
import os
import shutil
import sys
import tempfile
from dataclasses import asdict

from bench import floors, idling, listening, passing, sampling, simulating, starting, submitting
from bench.figures import Figure, milliseconds, table
from bench.home import compile_program


def main() -> int:
    warn_of_load()
    folder = tempfile.mkdtemp(prefix="tarmac-bench-")
    try:
        program = compile_program(folder)
        before = floors.measure(folder, program)
        starts = starting.measure(program)
        found = floors.least(before, floors.measure(folder, program))
        say("floors here: " + "  ".join(f"{name[0].upper()} {milliseconds(t)}" for name, t in asdict(found).items()))
        parts = (
            starting.figures(starts, found),
            submitting.figures(program),
            listening.figures(program),
            idling.figures(program),
            sampling.figures(),
            passing.figures(),
            simulating.figures(),
        )
        figures = [printed(figure) for figure in itertools.chain(*parts)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if "--json" in sys.argv:
        print(json.dumps({"floors": asdict(found), "figures": [asdict(f) | {"verdict": f.verdict} for f in figures]}))
    else:
        print("\n".join(table(figures)))
    return int(any(figure.verdict == "MISS" for figure in figures))


def warn_of_load() -> None:
    load = os.getloadavg()[0]
    if load > 1:
        say(f"note: the machine is busy (load {load:.1f}); the figures are unreliable")


def printed(figure: Figure) -> Figure:
    say(f"  {figure.what.strip()}: {figure.measured}")
    return figure


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
