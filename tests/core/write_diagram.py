"""Puts the state diagram, made from the transition table, into ARCHITECTURE.md: python -m tests.core.write_diagram"""

from __future__ import annotations

from pathlib import Path

from tarmac.core import transitions

PAGE = Path(__file__).parents[2] / "ARCHITECTURE.md"
BEGIN, END = "<!-- state diagram: begin -->", "<!-- state diagram: end -->"


def with_diagram(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n```mermaid\n{transitions.diagram()}```\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_diagram(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
