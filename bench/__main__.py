"""`python -m bench [--json]`: measures the floors, then Tarmac, and prints the ratios."""

import itertools
import json
import shutil
import sys
import tempfile
from dataclasses import asdict

from bench import floors, idling, starting, submitting
from bench.figures import Figure, milliseconds, table
from bench.home import compile_program


def main() -> int:
    folder = tempfile.mkdtemp(prefix="tarmac-bench-")
    try:
        found = floors.measure(folder, program := compile_program(folder))
        floors_read = (f"{name[0].upper()} {milliseconds(taken)}" for name, taken in asdict(found).items())
        say("floors here: " + "  ".join(floors_read))
        parts = (starting.figures(program, found), submitting.figures(program), idling.figures(program))
        figures = [told(figure) for figure in itertools.chain(*parts)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if "--json" in sys.argv:
        print(json.dumps({"floors": asdict(found), "figures": [asdict(f) | {"verdict": f.verdict} for f in figures]}))
    else:
        print("\n".join(table(figures)))
    return int(any(figure.verdict == "MISS" for figure in figures))


def told(figure: Figure) -> Figure:
    say(f"  {figure.what.strip()}: {figure.measured}")
    return figure


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
