"""Adopted processes: the command names the process by its start time and user, also when it is sent again."""

from __future__ import annotations

import msgspec

from tarmac.core.commands import AdoptProcess
from tarmac.core.events import ProcessAdopted
from tarmac.core.model.ids import GpuUuid, JobId
from tarmac.core.model.status import Starting
from tests.core.support.builders import BOX, a_spec
from tests.core.support.scene import Scene

OLD_ROW = '{"booking":{"node":"box","gpus":[]},"decided_at":1.0,"adopted_pid":77}'


def test_the_process_is_identified_by_more_than_its_pid() -> None:
    scene = Scene(gpus=1)
    adoption = AdoptProcess(node=BOX, job=JobId(1), attempt=1, pid=77, start_time=5, uid=1000)
    event = ProcessAdopted(spec=a_spec(), node=BOX, pid=77, gpus=(GpuUuid("box-0"),), start_time=5, uid=1000)
    assert scene.happen(event) == [adoption]
    assert scene.join() == [adoption], "the node has no record of it"


def test_an_adoption_stored_without_a_start_time_is_still_read() -> None:
    status = msgspec.json.decode(OLD_ROW, type=Starting)
    assert (status.adopted_pid, status.adopted_start_time, status.adopted_uid) == (77, None, None)
