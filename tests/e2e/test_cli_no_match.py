"""A filter that matches nothing is reported, by every verb that has filters."""

import json

import pytest

from tarmac.cli.args.selectors import FILTER_NAMES, FILTERS
from tarmac.cli.main import VERBS, verb_named
from tests.home import Home

NO_IDS = {"export", "results"}  # verbs whose words are a file or a group
WITH_FILTERS = [name for name in VERBS if {*FILTERS} & {*verb_named(name).options} and name not in NO_IDS]
COPY = {"clone", "rerun"}  # nothing to copy is an error
# Words that a verb needs besides the jobs.
MORE = {
    "move": ["first"], "edit": ["--priority", "3"], "rename": ["better"], "tag": ["+good"], "note": ["text"],
}  # fmt: skip
NOTHING = {"name": "no-such-name*", "tag": "typo", "state": "draft", "owner": "nobody-at-all", "group": "no-such-group"}


def filters_of(verb: str) -> list[str]:
    names = [option.name for option in verb_named(verb).options if option in FILTERS]
    assert names, verb
    return names


@pytest.fixture(autouse=True)
def a_job(shared_home: Home) -> None:
    if json.loads(shared_home.tarmac("ls", "--json").stdout) == []:
        shared_home.add("-g", "0", "--hold", "--tag", "sweep", "true")


def test_the_filters_that_are_known_are_all_tried() -> None:
    assert {*NOTHING} == {*FILTER_NAMES}
    assert {"wait", "ls", "kill", "hold", "release", "rm", "show", "why", "log", "move", "start"} <= {*WITH_FILTERS}


@pytest.mark.parametrize("verb", WITH_FILTERS)
def test_a_filter_that_matches_nothing_is_reported(shared_home: Home, verb: str) -> None:
    for name in filters_of(verb):
        done = shared_home.tarmac(verb, f"--{name}", NOTHING[name], *MORE.get(verb, []))
        assert done.returncode == 3, (done, name)
        assert done.stdout == ""
        said = "no group is named 'no-such-group'" if name == "group" else "no matching jobs"
        assert done.stderr.startswith(f"tarmac: {said}\n"), (name, done.stderr)


@pytest.mark.parametrize("verb", WITH_FILTERS)
def test_the_same_with_ids_and_as_json(shared_home: Home, verb: str) -> None:
    name = "tag" if "tag" in filters_of(verb) else filters_of(verb)[0]
    for words in (["all", f"--{name}", NOTHING[name]], ["1", f"--{name}", NOTHING[name]], ["900-999"]):
        done = shared_home.tarmac(verb, *words, "--json", *MORE.get(verb, []))
        assert done.returncode == 3, (done, words)
        assert done.stdout == ("[]\n" if verb == "ls" else "")
        assert "no matching jobs" in done.stderr


def test_all_without_jobs_is_not_an_error(home: Home) -> None:
    for verb in [verb for verb in WITH_FILTERS if verb not in COPY]:
        done = home.tarmac(verb, "all", *MORE.get(verb, []))
        assert (done.returncode, done.stdout) == (0, ""), verb


def test_wait_for_all_of_a_filter_whose_jobs_have_ended(home: Home) -> None:
    home.tarmac("run", "-g", "0", "--tag", "sweep", "true")
    assert home.tarmac("wait", "all", "--tag", "sweep").returncode == 0
    assert home.tarmac("wait", "all", "--tag", "typo").returncode == 3
    assert home.tarmac("wait", "--tag", "sweep").returncode == 0


@pytest.mark.parametrize(
    ("states", "found"),
    [
        ("ended", [1, 2]),
        ("active", [3]),
        ("waiting", [3]),
        ("failed,ended", [1, 2]),
        ("failed,active", [2, 3]),
        ("failed, waiting", [2, 3]),
        ("active,ended", [1, 2, 3]),
        ("held,succeeded", [1, 3]),
    ],
)
def test_groups_of_states_are_combined_with_states(shared_served: Home, states: str, found: list[int]) -> None:
    listed = json.loads(shared_served.tarmac("ls", "--state", states, "--json").stdout)
    assert [job["id"] for job in listed] == found


@pytest.fixture(scope="module")
def shared_served(tmp_path_factory: pytest.TempPathFactory) -> object:
    from tests.home import homes

    for home in homes(tmp_path_factory.mktemp("states") / "home"):
        home.tarmac("run", "-g", "0", "true")
        home.tarmac("run", "-g", "0", "false")
        home.add("-g", "0", "--hold", "true")
        yield home


def test_an_unknown_state_names_the_groups(shared_home: Home) -> None:
    done = shared_home.tarmac("ls", "--state", "finished")
    assert done.returncode == 2
    assert "waiting, active" in done.stderr
    assert "ended" in done.stderr


def test_the_client_raises_not_found(shared_home: Home) -> None:
    from tarmac.errors import NotFound

    client = shared_home.client()
    for ask in (client.kill, client.hold, client.release, client.rm):
        with pytest.raises(NotFound, match="no matching jobs"):
            ask(tag="typo")
    with pytest.raises(NotFound, match="no matching jobs"):
        client.wait("900-999")
    assert list(client.jobs(tag="typo")) == []
