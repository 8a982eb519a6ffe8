from tarmac.controller.gpus.ignored import IgnoredPids, start_of, this_boot

RUNNING = {7: 100, 8: 200}


def test_a_process_that_does_not_exist_cannot_be_ignored() -> None:
    pids = IgnoredPids(None, "boot", RUNNING.get)
    assert (pids.add(7), pids.add(9)) == (True, False)
    assert (7 in pids, 9 in pids, pids.text()) == (True, False, "boot 7:100")


def test_what_was_kept_is_read_again() -> None:
    pids = IgnoredPids(None, "boot", RUNNING.get)
    pids.add(8)
    pids.add(7)
    again = IgnoredPids(pids.text(), "boot", RUNNING.get)
    assert [*again] == [7, 8]
    again.discard(7)
    again.discard(8)
    assert again.text() is None


def test_a_number_that_was_given_to_another_process_is_not_ignored() -> None:
    assert [*IgnoredPids("boot 7:99 8:200", "boot", RUNNING.get)] == [8]
    assert [*IgnoredPids("an-earlier-boot 7:100", "boot", RUNNING.get)] == []


def test_those_that_ended_are_forgotten() -> None:
    starts = dict(RUNNING)
    pids = IgnoredPids("boot 7:100 8:200", "boot", starts.get)
    del starts[7]
    pids.prune()
    assert [*pids] == [8]


def test_processes_of_this_machine_are_told_apart() -> None:
    assert this_boot()
    assert start_of(1) is not None
    assert start_of(2**30) is None
