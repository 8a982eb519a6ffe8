"""The table of transitions, and its diagram in ARCHITECTURE.md."""

from __future__ import annotations

import pytest

from tarmac.core import transitions
from tarmac.core.model.status import STATUS_TYPES
from tarmac.core.transitions import TRANSITIONS, ImpossibleTransition
from tests.core.write_diagram import PAGE, with_diagram


def test_the_diagram_in_the_architecture_page_matches_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_diagram(page), "run: python -m tests.core.write_diagram"
    assert transitions.diagram() in page


def test_the_diagram_has_an_arrow_for_every_row() -> None:
    lines = transitions.diagram().splitlines()
    assert lines[0] == "stateDiagram-v2"
    for (source, cause), targets in TRANSITIONS.items():
        for target in targets:
            (arrow,) = [line for line in lines if line.strip().startswith(f"{source} --> {target}:")]
            assert cause in arrow.partition(":")[2].replace(",", " ").split()


def test_the_table_names_only_existing_states() -> None:
    named = {source for source, _ in TRANSITIONS} | {target for targets in TRANSITIONS.values() for target in targets}
    assert named == set(STATUS_TYPES)


def test_no_transition_leaves_an_ended_state() -> None:
    assert not {source for source, _ in TRANSITIONS} & {"succeeded", "failed", "cancelled"}


def test_every_state_can_be_reached_and_every_state_can_end() -> None:
    reached = {"queued", "held", "draft"}
    for _ in TRANSITIONS:
        reached |= {target for (source, _), targets in TRANSITIONS.items() if source in reached for target in targets}
    assert reached == set(STATUS_TYPES)
    ending = {"succeeded", "failed", "cancelled", "unknown"}
    for _ in TRANSITIONS:
        ending |= {source for (source, _), targets in TRANSITIONS.items() if set(targets) & ending}
    assert ending == set(STATUS_TYPES)


@pytest.mark.parametrize(
    ("source", "cause", "target"),
    [("queued", "Decided", "running"), ("running", "JobStarted", "running"), ("succeeded", "StopAsked", "cancelled")],
)
def test_a_transition_outside_the_table_raises_and_names_the_job(source: str, cause: str, target: str) -> None:
    with pytest.raises(ImpossibleTransition, match=f"job 7: {source} -> {target} because of {cause}"):
        transitions.check(source, cause, target, 7)


def test_a_transition_in_the_table_passes() -> None:
    for (source, cause), targets in TRANSITIONS.items():
        assert transitions.is_expected(source, cause)
        for target in targets:
            transitions.check(source, cause, target, 7)
    assert not transitions.is_expected("queued", "JobStarted")
