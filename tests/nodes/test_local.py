"""How the agent of this machine is named."""

from pathlib import Path

from tarmac.nodes.local import lasting_name


def test_a_machine_keeps_its_name_when_its_host_name_changes(tmp_path: Path) -> None:
    assert lasting_name(tmp_path, "desk") == "desk"
    assert lasting_name(tmp_path, "renamed") == "desk"
