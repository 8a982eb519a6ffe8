"""The declared frame types: every type the protocol names, and no cost at start-up."""

import re
import subprocess
import sys
from typing import get_args, get_type_hints

from tarmac.agent.frames import ProbeFrame
from tarmac.shared import protocol
from tarmac.shared.frames import reports, to_agent, to_controller
from tarmac.shared.system.boot_clock import Moment


def types_of(union: object) -> set[str]:
    """The "type" of every frame in a union."""
    return {get_args(get_type_hints(frame)["type"])[0] for frame in get_args(union)}


def documented(direction: str) -> set[str]:
    """The types that protocol's docstring lists for a direction."""
    listing = re.search(rf"^{direction} +((?:.+\n)(?: {{4,}}.+\n)*)", protocol.__doc__ or "", re.MULTILINE)
    assert listing is not None
    return set(listing.group(1).split())


def test_every_documented_frame_has_a_type_and_every_type_is_documented() -> None:
    assert types_of(to_agent.ControllerFrame) == documented("controller → agent")
    assert types_of(to_controller.AgentFrame) == documented("agent → controller")
    assert types_of(ProbeFrame) == documented("probe → agent")


def test_constructors_fill_in_every_field() -> None:
    built = [
        (reports.StartedFrame, protocol.started(1, 2, pid=3, at=Moment(4.0))),
        (reports.ExitedFrame, protocol.exited(1, 2, status=0, pid=3, started=Moment(4.0), ended=Moment(5.0))),
        (reports.LaunchFailedFrame, protocol.launch_failed(1, 2, message="x", at=Moment(4.0))),
        (reports.LostFrame, protocol.lost(1, 2, message="x", alive=True, at=Moment(4.0))),
        (reports.GoneFrame, protocol.gone(1, 2, at=Moment(4.0))),
    ]
    for declared, frame in built:
        assert declared.__required_keys__ <= set(frame) <= declared.__required_keys__ | declared.__optional_keys__


def test_the_types_are_not_imported_at_run_time() -> None:
    """Building them takes longer than the rest of tarmac.shared."""
    program = "import sys, tarmac.agent.service; sys.exit(any('.frames' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
