"""Options that every verb has, read from the table of verbs, so that a new verb is covered."""

import pytest

from tarmac.cli.args.selectors import FILTERS
from tarmac.cli.main import VERBS, verb_named
from tarmac.cli.parser import HOST, JSON

EVERY = [name for verb in VERBS for name in (verb, *[f"{verb} {more}" for more in verb_named(verb).verbs])]
# Why these have no --json.
WITHOUT_JSON = {
    "serve": "it runs the controller in the foreground",
    "gpu": "it only leads to its verbs",
    "node": "it only leads to its verbs",
    "node login": "ssh talks to the user",
    "template": "it only leads to its verbs",
    "metrics": "it prints the format of Prometheus",
    "dial-stdio": "it copies bytes",
}
# Why these take an id and not all filters.
WITHOUT_FILTERS = dict.fromkeys(("edit", "clone", "rerun"), "--name and --tag change the jobs")


@pytest.mark.parametrize("verb", EVERY)
def test_every_verb_has_json(verb: str) -> None:
    names = [option.long for option in verb_named(verb).options]
    assert (JSON.long in names) == (verb not in WITHOUT_JSON)


@pytest.mark.parametrize(
    "verb", [name for name in EVERY if "ID" in " ".join(verb_named(name).usage).replace("PID", "")]
)
def test_every_verb_that_takes_jobs_has_the_filters(verb: str) -> None:
    if verb == "reserve":
        return  # its ids are those of reservations
    if verb in {"diff", "checkout"}:
        return  # they take one or two jobs, never all that match
    missing = [option.long for option in FILTERS if option not in verb_named(verb).options]
    assert missing == (["--name", "--tag"] if verb in WITHOUT_FILTERS else [])


@pytest.mark.parametrize("verb", EVERY)
def test_an_option_means_the_same_everywhere(verb: str) -> None:
    """The short form of an option does not depend on the verb."""
    short = {"--grace": None, "--reason": "-r", "--yes": "-y", "--watch": "-w", "--json": None, "--node": None}
    for option in verb_named(verb).options:
        assert option.short == short.get(option.long, option.short), option.long


@pytest.mark.parametrize("verb", EVERY)
def test_the_option_for_another_machine_means_the_same_everywhere(verb: str) -> None:
    taken = {flag for option in verb_named(verb).options for flag in (option.long, option.short)}
    assert not taken & {HOST.long, HOST.short}
