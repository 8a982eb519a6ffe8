"""The table of transitions, and its diagram in ARCHITECTURE.md."""

from __future__ import annotations

import pytest

from tarmac.core import transitions
from tarmac.core.model.status import STATUS_TYPES, Draft
from tarmac.core.story import enter, tell
from tarmac.core.transitions import TRANSITIONS, ImpossibleTransition
from tests.core.support.builders import a_job, a_node, a_state
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


def test_only_a_retry_by_hand_leaves_an_ended_state() -> None:
    ended = {"succeeded", "failed", "cancelled"}
    assert {cause for source, cause in TRANSITIONS if source in ended} == {"JobsRetried"}


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


def test_the_message_has_the_end_of_the_jobs_story() -> None:
    job, other = a_job(7), a_job(8)
    state = a_state(a_node(), jobs=(job, other))
    for one in (job, other, job):
        tell(state, one, "JobMoved", 5.0, {"by": one.id})
    with pytest.raises(ImpossibleTransition) as caught:
        enter(state, job, Draft(), "JobsHeld", 6.0, {})
    caught.value.add_story(["1.000 attempt 0 JobSubmitted"])
    moved = "\n  5.000 attempt 0 JobMoved {'by': 7}"
    assert str(caught.value) == (
        "job 7: queued -> draft because of JobsHeld; the end of its story:\n  1.000 attempt 0 JobSubmitted" + 2 * moved
    )


def test_a_transition_in_the_table_passes() -> None:
    for (source, cause), targets in TRANSITIONS.items():
        assert transitions.is_expected(source, cause)
        for target in targets:
            transitions.check(source, cause, target, 7)
    assert not transitions.is_expected("queued", "JobStarted")
