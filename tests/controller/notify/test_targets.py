"""The targets of the config file: for all users and per user, with clear refusals that contain no secret."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tarmac.api.wording.refusals import refusal
from tarmac.controller.notify.targets import Subscription, Targets, is_installed, read_targets
from tarmac.controller.settings.config import read_config
from tarmac.refusal import Refused

PATH = Path("/config.toml")
SECRET = "correct-horse"
BOTH = f"""
    [targets]
    mail = "mailtos://ann:{SECRET}@smtp.example.org?to=all@example.org&from=t@example.org"
    team = "slack://{SECRET}"

    [users.ann]
    default = "phone"
    on = ["fail", "oom"]
    queue = "phone,team"
    queue_on = "gpu-idle"

    [users.ann.targets]
    phone = "tgram://{SECRET}/1"
    team = "slack://of-ann"
"""


def read(text: str) -> Targets:
    return read_targets(PATH, tomllib.loads(text))


def refused(text: str) -> str:
    with pytest.raises(Refused) as raised:
        read(text)
    words = refusal(raised.value)
    assert words.hint
    assert SECRET not in words.message + words.hint + str(raised.value)
    return words.message


def test_a_user_sees_the_targets_of_all_and_their_own_and_the_own_ones_go_first() -> None:
    targets = read(BOTH)
    assert targets.names("ann") == ["mail", "phone", "team"]
    assert targets.names("bob") == ["mail", "team"]
    assert targets.url("ann", "team") == "slack://of-ann"
    assert targets.url("bob", "team") == f"slack://{SECRET}"
    assert targets.url("bob", "phone") is None


def test_defaults_are_those_of_the_user_then_those_of_all_users() -> None:
    targets = read(BOTH)
    assert (targets.defaults("ann"), targets.default_events("ann")) == (("phone",), ("fail", "oom"))
    assert (targets.defaults("bob"), targets.default_events("bob")) == ((), ("end",))
    general = read('default = ["a"]\non = "start"\n[targets]\na = "json://x"\n[users.bob]\ndefault = []')
    assert (general.defaults("ann"), general.default_events("ann")) == (("a",), ("start",))
    assert general.defaults("bob") == ()


def test_events_of_the_queue_go_to_those_who_ask_for_them() -> None:
    assert read(BOTH).subscriptions() == [
        Subscription("ann", "phone", ("gpu-idle",)),
        Subscription("ann", "team", ("gpu-idle",)),
    ]
    (one,) = read('queue = "a"\n[targets]\na = "json://x"').subscriptions()
    assert one.owner == ""
    assert "queue-empty" in one.events


def test_an_address_is_sent_by_the_target_named_mail() -> None:
    url = read(BOTH).url("bob", "bob@example.org")
    assert url == f"mailtos://ann:{SECRET}@smtp.example.org?from=t@example.org&to=bob@example.org"
    assert read('[targets]\nteam = "slack://x"').url("bob", "bob@example.org") is None
    assert read(BOTH).url("bob", "bob@example.org&cc=eve@example.org") is None


def test_no_listed_url_contains_a_secret() -> None:
    listed = list(read(BOTH).listed(None))
    assert [(one.name, one.owner) for one in listed] == [("mail", ""), ("team", ""), ("phone", "ann"), ("team", "ann")]
    assert SECRET not in str(listed)
    assert [one.name for one in read(BOTH).listed("bob")] == ["mail", "team"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'targets = "{SECRET}"', "notify.targets is not a table"),
        ('default = "mail"', "default in [notify] names 'mail', which is not a target"),
        ('queue = ["x"]', "queue in [notify] names 'x', which is not a target"),
        ('on = "ends"', "on in [notify]: 'ends' is not an event"),
        ('on = "queue-empty"', "on in [notify]: 'queue-empty' is not an event"),
        ('queue_on = "end"', "queue_on in [notify]: 'end' is not an event"),
        ("on = 7", "on in [notify] is not a list of words"),
        ('defaults = "mail"', "unknown key defaults in [notify]"),
        ("users = 3", "notify.users is not a table"),
        ("[users]\nann = 3", "notify.users is not a table"),
        ('[users.ann]\nproxy = "http://x"', "unknown key proxy in [notify.users.ann]"),
        ('[users.ann]\ndefault = "phone"', "default in [notify.users.ann] names 'phone'"),
        ('proxy = "example.org"', "notify.proxy is not a URL"),
    ],
)
def test_mistakes_are_refused_with_the_place_and_without_the_url(text: str, message: str) -> None:
    assert message in refused(text)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (f'[targets]\nmail = "{SECRET}"', "mail", "mail in [notify.targets] is not a URL"),
        (f'[targets]\nmail = ["slack://{SECRET}"]', "mail", "mail in [notify.targets] is not a URL"),
        (f'[targets]\nmail = "slack://{SECRET} x"', "mail", "mail in [notify.targets] is not a URL"),
        (f'[targets]\nnone = "slack://{SECRET}"', "none", "'none' in [notify.targets] cannot be the name of a target"),
        ('[targets]\n"a b" = "slack://x"', "a b", "'a b' in [notify.targets] cannot be the name"),
    ],
)
def test_a_target_that_cannot_be_used_is_listed_and_refused_and_stops_nothing_else(
    text: str, name: str, message: str
) -> None:
    targets = read(f'default = ["{name}"]\n{text}\nchat = "json://x"')
    assert targets.names("ann") == ["chat"]
    (bad,) = [one for one in targets.listed("ann") if one.problem is not None]
    assert (bad.name, bad.url) == (name, None)
    with pytest.raises(Refused) as raised:
        targets.check("ann", [name])
    assert message in refusal(raised.value).message
    assert SECRET not in f"{raised.value} {refusal(raised.value)}"
    if is_installed():
        assert targets.check("ann", ["chat"]) == ("chat",)


@pytest.mark.parametrize("value", [3, "mail", []])
def test_a_value_that_is_not_a_table_is_refused(value: Any) -> None:
    with pytest.raises(Refused, match="not_a_table"):
        read_targets(PATH, value)


def test_the_config_file_has_the_table(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[notify.targets]\nmail = "json://x"\n')
    assert read_config(path)["notify"].names("ann") == ["mail"]
    path.write_text("[notfy.targets]\n")
    with pytest.raises(Refused, match="near='notify'"):
        read_config(path)


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("tem", "notify.misspelled"),
        ("xyz", "notify.unknown"),
        (f"slack://{SECRET}", "notify.url"),
        ("", "notify.unknown"),
    ],
)
def test_a_target_that_is_not_there_is_refused(target: str, key: str) -> None:
    with pytest.raises(Refused) as raised:
        read(BOTH).check("bob", ["mail", target])
    assert raised.value.key == key
    assert SECRET not in str(raised.value)


def test_without_any_target_the_refusal_says_how_to_add_one() -> None:
    with pytest.raises(Refused) as raised:
        Targets().check("bob", ["mail"])
    assert "[notify.targets]" in str(refusal(raised.value).hint)
    with pytest.raises(Refused, match="no_mail"):
        Targets().check("bob", ["bob@example.org"])
