"""Which single processes are ignored, by node and boot."""

from tarmac.controller.gpus.ignored import IgnoredProcesses
from tarmac.core.model.ids import NodeName

DESK, OTHER = NodeName("desk"), NodeName("other")
BOOTS = {DESK: "boot", OTHER: "boot2"}


def read_again(processes: IgnoredProcesses) -> IgnoredProcesses:
    return IgnoredProcesses(processes.text(), DESK, BOOTS.get)


def test_what_was_stored_is_read_again_by_node() -> None:
    processes = IgnoredProcesses(None, DESK, BOOTS.get)
    processes.add(DESK, "boot", 8, 200)
    processes.add(DESK, "boot", 7, 100)
    processes.add(OTHER, "boot2", 7, 900)
    again = read_again(processes)
    assert (again.starts_on(DESK), again.starts_on(OTHER)) == ({7: 100, 8: 200}, {7: 900})
    assert again.pids() == [7, 7, 8]
    again.discard(DESK, {(7, 100)})
    assert (again.starts_on(DESK), again.starts_on(OTHER)) == ({8: 200}, {7: 900})
    again.discard(DESK, {(8, 200)})
    again.discard(OTHER, {(7, 900)})
    assert again.text() is None


def test_the_format_of_older_versions_is_about_the_home_node() -> None:
    assert IgnoredProcesses("boot 7:100 8:200", DESK, BOOTS.get).starts_on(DESK) == {7: 100, 8: 200}


def test_a_reboot_ends_what_was_ignored() -> None:
    assert IgnoredProcesses("an-earlier-boot 7:100", DESK, BOOTS.get).starts_on(DESK) == {}
    processes = IgnoredProcesses("an-earlier-boot 7:100", DESK, BOOTS.get)
    processes.add(DESK, "boot", 8, 200)
    assert processes.starts_on(DESK) == {8: 200}


def test_while_the_agent_is_away_its_processes_stay_ignored() -> None:
    assert IgnoredProcesses("boot 7:100", DESK, lambda _: None).starts_on(DESK) == {7: 100}


def test_only_the_process_with_this_start_time_is_discarded() -> None:
    processes = IgnoredProcesses("boot 7:100 8:200", DESK, BOOTS.get)
    processes.discard(DESK, {(7, 100), (8, 201)})
    assert processes.starts_on(DESK) == {8: 200}


def test_a_changed_copy_is_put_in_force_and_taken_back() -> None:
    processes = IgnoredProcesses("boot 7:100", DESK, BOOTS.get)
    changed = processes.copy()
    changed.add(DESK, "boot", 8, 200)
    assert processes.starts_on(DESK) == {7: 100}
    undo = processes.replace_with(changed)
    assert processes.starts_on(DESK) == {7: 100, 8: 200}
    undo()
    assert processes.starts_on(DESK) == {7: 100}
