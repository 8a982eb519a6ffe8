"""Files and directories that another user could have changed."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.shared.own import strict_modes
from tarmac.shared.own.strict_modes import (
    Problem,
    Unsafe,
    can_others_read,
    problems_of_agent,
    problems_of_config,
    problems_of_state,
    secure,
)

NOBODY = 65534
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to another user")


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that other users can reach: pytest's own are below a private one."""
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


@pytest.fixture
def state(place: Path) -> Path:
    """A state directory as Tarmac makes it."""
    state = place / "state"
    for folder in (state, state / "logs", state / "agent", state / "agent" / "runs"):
        folder.mkdir(0o700)
    for name in ("tarmac.db", "controller.log", "agent/agent.log", "agent/node"):
        (state / name).touch(0o600)
    return state


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def only(problems: list[Problem]) -> Problem:
    (problem,) = problems
    return problem


def test_the_files_of_tarmac_are_safe(state: Path) -> None:
    assert problems_of_state(str(state)) == problems_of_agent(str(state)) == []


@pytest.mark.parametrize("bits", [0o770, 0o707, 0o775, 0o777])
def test_a_directory_that_others_could_write_to_is_refused(state: Path, bits: int) -> None:
    state.chmod(bits)
    with pytest.raises(Unsafe, match=f"can be changed by other users \\(mode 0{bits:o}\\); .*chmod go-w {state}"):
        secure(problems_of_state(str(state)))
    assert mode(state) == bits, "nothing is changed, so that a person can look"


@pytest.mark.parametrize("name", ["logs", "agent", "agent/runs"])
def test_a_directory_inside_that_others_could_write_to_is_refused(state: Path, name: str) -> None:
    state.chmod(0o755)
    (state / "agent").chmod(0o755)
    (state / name).chmod(0o777)
    with pytest.raises(Unsafe, match=f"{state / name} can be changed"):
        secure(problems_of_state(str(state)))


@pytest.mark.parametrize("name", ["tarmac.db", "controller.log"])
def test_a_file_that_others_could_write_to_is_refused(state: Path, name: str) -> None:
    state.chmod(0o755)
    (state / name).chmod(0o660)
    with pytest.raises(Unsafe, match=f"{state / name} can be changed"):
        secure(problems_of_state(str(state)))


def test_modes_are_put_right_where_no_one_else_could_get(state: Path) -> None:
    state.parent.chmod(0o700)
    for path, bits in ((state, 0o777), (state / "agent", 0o777), (state / "tarmac.db", 0o666)):
        path.chmod(bits)
    secure(problems_of_state(str(state)))
    assert [mode(path) for path in (state, state / "agent", state / "tarmac.db")] == [0o755, 0o700, 0o600]
    assert problems_of_state(str(state)) == []


def test_files_that_others_can_only_read_are_closed(state: Path) -> None:
    state.chmod(0o755)
    (state / "tarmac.db").chmod(0o644)
    (state / "logs").chmod(0o755)
    secure(problems_of_state(str(state)))
    assert (mode(state / "tarmac.db"), mode(state / "logs")) == (0o600, 0o700)
    assert mode(state) == 0o755, "its owner may have more in there, for others to read"


def test_an_empty_directory_is_taken_over(place: Path) -> None:
    empty = place / "empty"
    empty.mkdir()
    empty.chmod(0o777)
    secure(problems_of_state(str(empty)))
    assert mode(empty) == 0o700


def test_a_directory_that_fills_meanwhile_is_refused(place: Path) -> None:
    empty = place / "empty"
    empty.mkdir()
    empty.chmod(0o777)
    problems = problems_of_state(str(empty))
    (empty / "config.toml").touch()
    with pytest.raises(Unsafe):
        secure(problems)
    assert mode(empty) == 0o777


@pytest.mark.parametrize("bits", [0o775, 0o777])
def test_a_parent_that_others_can_write_to_is_refused(state: Path, bits: int) -> None:
    state.parent.chmod(bits)
    assert only(problems_of_state(str(state))).path == str(state.parent)
    assert only(problems_of_config(str(state / "tarmac.db"))).path == str(state.parent)


def test_a_sticky_parent_is_fine_but_not_a_place_for_the_state_itself(state: Path) -> None:
    state.parent.chmod(0o1777)
    assert problems_of_state(str(state)) == []
    problem = only(problems_of_state(str(state.parent)))
    assert (problem.safe_mode, problem.fix) == (None, "set TARMAC_HOME to a directory that you own")


def test_whether_others_can_read_a_file_depends_on_its_mode_and_on_the_directories_above(place: Path) -> None:
    config = place / "config.toml"
    config.touch()
    for bits, is_open in ((0o600, False), (0o640, True), (0o604, True)):
        config.chmod(bits)
        assert can_others_read(str(config)) == is_open
    place.chmod(0o700)
    assert not can_others_read(str(config))


@as_root
@pytest.mark.parametrize("name", ["", "tarmac.db", "agent", "agent/agent.log", "controller.log", "logs"])
def test_what_belongs_to_another_user_is_refused(state: Path, name: str) -> None:
    os.chown(state / name, NOBODY, NOBODY)
    problem = only(problems_of_state(str(state)))
    assert problem.text == f"{str(state / name).rstrip('/')} belongs to another user (uid {NOBODY})"
    assert problem.safe_mode is None


@as_root
def test_a_parent_of_another_user_is_refused(state: Path) -> None:
    os.chown(state.parent, NOBODY, NOBODY)
    assert only(problems_of_state(str(state))).text == f"{state.parent} belongs to another user (uid {NOBODY})"


@pytest.mark.parametrize(
    "name", ["tarmac.db", "controller.log", "agent/agent.log", "controller.lock", "agent/agent.sock"]
)
def test_a_link_in_place_of_a_file_is_refused(state: Path, place: Path, name: str) -> None:
    (state / name).unlink(missing_ok=True)
    (state / name).symlink_to(place / "elsewhere")
    assert only(problems_of_state(str(state))).text == f"{state / name} is a symbolic link"


def test_the_owner_may_keep_logs_elsewhere(state: Path, place: Path) -> None:
    (state / "logs").rmdir()
    (state / "logs").symlink_to(place)
    assert problems_of_state(str(state)) == []


def test_links_to_the_state_directory_are_followed_and_checked(state: Path, place: Path) -> None:
    loose = place / "loose"
    loose.mkdir()
    (loose / "link").symlink_to("../state")
    (place / "link").symlink_to("loose/link")
    assert problems_of_state(str(place / "link")) == []
    loose.chmod(0o777)
    assert only(problems_of_state(str(place / "link"))).path == str(loose)


@as_root
def test_a_link_of_another_user_is_refused(state: Path, place: Path) -> None:
    link = place / "link"
    link.symlink_to(state)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert only(problems_of_state(str(link))).text == f"{link} belongs to another user (uid {NOBODY})"


def test_links_in_a_circle_end(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    assert len(list(strict_modes._links_on(str(place / "a")))) == 40


def test_a_config_file_that_others_could_write_to_is_refused(place: Path) -> None:
    config = place / "config.toml"
    config.touch()
    for bits in (0o664, 0o646):
        config.chmod(bits)
        with pytest.raises(Unsafe, match=f"chmod go-w {config}"):
            secure(problems_of_config(str(config)))
    config.chmod(0o644)
    assert problems_of_config(str(config)) == []
    assert problems_of_config(str(place / "none.toml")) == []


def test_a_config_file_that_no_one_else_can_reach_is_closed(place: Path) -> None:
    config = place / "config.toml"
    config.touch()
    config.chmod(0o664)
    place.chmod(0o700)
    secure(problems_of_config(str(config)))
    assert mode(config) == 0o644


@as_root
def test_a_config_file_of_another_user_is_refused(place: Path) -> None:
    config = place / "config.toml"
    config.touch()
    os.chown(config, NOBODY, NOBODY)
    assert only(problems_of_config(str(config))).text == f"{config} belongs to another user (uid {NOBODY})"


def test_a_linked_config_file_is_checked_where_it_is(place: Path) -> None:
    dotfiles = place / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "tarmac.toml").touch()
    link = place / "config.toml"
    link.symlink_to("dotfiles/tarmac.toml")
    assert problems_of_config(str(link)) == []
    dotfiles.chmod(0o777)
    assert only(problems_of_config(str(link))).path == str(dotfiles)


def test_new_directories_are_private_whatever_the_umask_is(place: Path) -> None:
    before = os.umask(0)
    try:
        strict_modes.make_directories(str(place / "a" / "b" / "c"))
    finally:
        os.umask(before)
    assert [mode(place / path) for path in ("a", "a/b", "a/b/c")] == [0o700] * 3


GAMES = pwd.getpwnam("games") if "games" in {user.pw_name for user in pwd.getpwall()} else None
as_a_user_with_a_private_group = pytest.mark.skipif(
    os.getuid() != 0 or GAMES is None, reason="needs root and a user whose group has the same name"
)


def problems_seen_by_games(state: Path, group: int) -> str:
    """What a user finds whose directories all have mode 0775 and this group."""
    assert GAMES is not None
    for path in (state.parent, state, *state.rglob("*")):
        os.chown(path, GAMES.pw_uid, GAMES.pw_gid)
    os.chown(state.parent, GAMES.pw_uid, group)
    os.chown(state / "tarmac.db", GAMES.pw_uid, group)
    state.parent.chmod(0o775)
    (state / "tarmac.db").chmod(0o664)
    look = (
        "import os; from tarmac.shared.own.strict_modes import *;"  # first: Python may be closed to that user
        f"os.setgroups([]); os.setgid({GAMES.pw_gid}); os.setuid({GAMES.pw_uid});"
        f"config = problems_of_config({str(state / 'tarmac.db')!r});"
        f"print([problem.path for problem in problems_of_state({str(state)!r}) if problem.safe_mode is None], config)"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True)
    assert not done.stderr
    return done.stdout


@as_a_user_with_a_private_group
def test_a_private_group_does_not_count_as_others(state: Path) -> None:
    assert GAMES is not None
    seen = problems_seen_by_games(state, GAMES.pw_gid)
    assert seen.startswith("[] "), seen


@as_a_user_with_a_private_group
def test_a_group_with_another_name_counts_as_others(state: Path) -> None:
    assert str(state.parent) in problems_seen_by_games(state, NOBODY)
