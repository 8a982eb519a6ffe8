"""Processes that a command left behind: the job and its story say how many there were, and which."""

from dataclasses import replace

import pytest

from tarmac.core.model.leftovers import Leftovers, LeftProcess
from tarmac.core.model.status import Cancelled, Failed, Queued, Succeeded, Unknown
from tests.core.support.builders import a_spec, gone, lost
from tests.core.support.scene import Scene

LEFT = Leftovers(count=3, processes=(LeftProcess(pid=50, command="python loader.py"),))
TOLD = {"count": 3, "processes": [{"pid": 50, "command": "python loader.py"}]}


def told(scene: Scene) -> list[object]:
    return [line.detail for line in scene.state.changes.story if line.kind == "LeftoversEnded"]


@pytest.mark.parametrize(("exit_code", "ended"), [(0, Succeeded), (1, Failed)])
def test_the_outcome_and_the_story_name_them(exit_code: int, ended: type) -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec())
    scene.finish(1, exit_code=exit_code, leftovers=LEFT)
    status = scene.status(1)
    assert isinstance(status, ended)
    assert status.leftovers == LEFT  # type: ignore[attr-defined]
    assert told(scene) == [TOLD]


def test_they_are_named_after_a_stop_too() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec())
    scene.stop(1)
    scene.finish(1, exit_code=None, signal=15, leftovers=LEFT)
    status = scene.status(1)
    assert isinstance(status, Cancelled)
    assert status.leftovers == LEFT
    assert told(scene) == [TOLD]


def test_the_story_of_a_preempted_job_names_them() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec(tier="preemptible"))
    scene.submit(a_spec())
    scene.finish(1, exit_code=0, was_signalled=True, leftovers=LEFT)
    assert isinstance(scene.status(1), Queued)
    assert told(scene) == [TOLD]


def test_they_are_named_if_the_shim_was_killed() -> None:
    for report in (gone(1), lost(1)):
        scene = Scene(gpus=1)
        scene.run(a_spec())
        scene.report(lost(1, is_alive=True))
        scene.report(replace(report, leftovers=LEFT))
        status = scene.status(1)
        assert isinstance(status, Unknown)
        assert (status.leftovers, told(scene)) == (LEFT, [TOLD])


def test_a_job_that_left_nothing_has_no_such_line() -> None:
    scene = Scene(gpus=1)
    scene.run(a_spec())
    scene.finish(1)
    assert told(scene) == []
