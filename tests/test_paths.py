import os
from pathlib import Path

import pytest

from tarmac import paths
from tarmac.errors import NotAllowed


def test_tarmac_home_moves_everything() -> None:
    environ = {"TARMAC_HOME": "/srv/t", "XDG_STATE_HOME": "/x", "XDG_CONFIG_HOME": "/y"}
    assert paths.state_folder(environ) == "/srv/t"
    assert paths.config_path(environ) == "/srv/t/config.toml"


def test_the_xdg_folders_are_used_without_it() -> None:
    environ = {"XDG_STATE_HOME": "/srv/state", "XDG_CONFIG_HOME": "/srv/config", "TARMAC_HOME": ""}
    assert paths.wanted_state_folder(environ) == "/srv/state/tarmac"
    assert paths.config_path(environ) == "/srv/config/tarmac/config.toml"


def test_a_relative_xdg_folder_is_ignored_and_a_relative_home_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert paths.wanted_state_folder({"XDG_STATE_HOME": "state"}) == "/home/ann/.local/state/tarmac"
    assert paths.wanted_state_folder({"TARMAC_HOME": "trial"}) == os.path.join(os.getcwd(), "trial")


@pytest.fixture
def network_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """An environment whose home is on NFS, as far as `paths` can tell."""
    local = tmp_path / "local"
    local.mkdir()
    monkeypatch.setattr(paths, "LOCAL_STATE_ROOT", str(local))
    monkeypatch.setattr(paths, "network_file_system", lambda path: None if path.startswith(str(local)) else "nfs4")
    return {"XDG_STATE_HOME": "/nfs/ann/state"}


def test_a_state_folder_on_a_network_file_system_moves_to_a_local_one(network_home: dict[str, str]) -> None:
    moved = paths.state_folder(network_home)
    assert moved == f"{paths.LOCAL_STATE_ROOT}/tarmac-{os.getuid()}"
    note = paths.moved_note(network_home)
    assert note is not None
    assert "/nfs/ann/state/tarmac" in note
    assert "nfs4" in note
    assert moved in note


def test_two_homes_on_the_network_stay_two(network_home: dict[str, str]) -> None:
    first, second = (paths.state_folder({"TARMAC_HOME": home}) for home in ("/nfs/a", "/nfs/b"))
    assert first != second
    assert first == paths.state_folder({"TARMAC_HOME": "/nfs/a"})
    assert paths.config_path({"TARMAC_HOME": "/nfs/a"}) == "/nfs/a/config.toml"


def test_a_replacement_directory_of_another_user_is_refused(network_home: dict[str, str]) -> None:
    folder = Path(f"{paths.LOCAL_STATE_ROOT}/tarmac-{os.getuid()}")
    folder.symlink_to("/etc")
    with pytest.raises(NotAllowed):
        paths.state_folder(network_home)


def test_a_folder_of_another_user_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    with pytest.raises(NotAllowed, match="belongs to another user"):
        paths.make_private(str(tmp_path))


def test_a_new_state_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    paths.make_private(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_the_sockets_of_logins_have_short_addresses() -> None:
    assert paths.ssh_control_directory("/home/ann/.local/state/tarmac") == "/home/ann/.local/state/tarmac/ssh"
    long = f"/home/{'a' * 60}/.local/state/tarmac"
    elsewhere = paths.ssh_control_directory(long)
    assert len(elsewhere) + paths.SSH_SOCKET_BYTES <= paths.SUN_PATH_BYTES
    assert elsewhere != paths.ssh_control_directory(long + "2")
