"""The targets of notifications, as the config file names them: for all users, and for each user.

A target's URL may contain a password or a token. It leaves this record only for the process that sends.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from tarmac.controller.notify.masking import masked
from tarmac.records import dataclass
from tarmac.refusal import Refused, invalid
from tarmac.shared.names import JOB_EVENTS, QUEUE_EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

NOTIFY = "notify"  # the key in the config file
NONE = "none"  # `--notify none`: no notification, whatever the default is
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
URL = re.compile(r"[A-Za-z][A-Za-z0-9]*s?://\S+")
MAIL = "mail"  # the target that sends to addresses
ADDRESS = re.compile(r"[^@\s,/?&=%]+@[^@\s,/?&=%]+")
DEFAULT_ON = ("end",)
LISTS = ("default", "on", "queue", "queue_on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """Those of all users, or of one user. None: not set."""

    targets: Mapping[str, str] = field(default_factory=dict)  # URLs by name
    unusable: Mapping[str, Refused] = field(default_factory=dict)  # targets that cannot be used, and why
    default: tuple[str, ...] | None = None  # targets of jobs without --notify
    on: tuple[str, ...] | None = None  # events of jobs without --on
    queue: tuple[str, ...] | None = None  # targets that get the events of the queue as a whole
    queue_on: tuple[str, ...] | None = None


class Subscription(NamedTuple):
    """A target that gets events of the queue as a whole."""

    owner: str
    target: str
    events: tuple[str, ...]


class Listed(NamedTuple):
    """A target as it may be shown."""

    name: str
    owner: str  # empty: for all users
    url: str | None  # masked
    problem: Refused | None = None  # why it cannot be used


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    everyone: Preferences = Preferences()
    users: Mapping[str, Preferences] = field(default_factory=dict)
    proxy: str | None = None

    def url(self, owner: str, target: str) -> str | None:
        """A user's own target goes before one of the same name for all users. None: neither exists."""
        place = self.place(owner, target)
        if place is None:
            return None
        user, name = place
        url = (self.users[user] if user else self.everyone).targets[name]
        return url if name == target else with_recipient(url, target)

    def place(self, owner: str, target: str) -> tuple[str, str] | None:
        """Where the config file has this user's target: among their own or, with an empty owner, among all users'.

        The place of an address is that of the target which sends to it.
        """
        for name in (target, *([MAIL] if ADDRESS.fullmatch(target) else [])):
            if name in self.users.get(owner, Preferences()).targets:
                return owner, name
            if name in self.everyone.targets:
                return "", name
        return None

    def urls(self) -> list[str]:
        """Those of all users, for hiding their secrets in other texts."""
        preferences = (self.everyone, *self.users.values())
        return sorted(
            {url for one in preferences for url in one.targets.values()} | ({self.proxy} if self.proxy else set())
        )

    def names(self, owner: str) -> list[str]:
        return sorted({*self.everyone.targets, *self.users.get(owner, Preferences()).targets})

    def listed(self, owner: str | None) -> Iterator[Listed]:
        """The targets that a user can use; for None, all."""
        for user, mine in (("", self.everyone), *self.users.items()):
            if owner is None or user in {"", owner}:
                yield from (Listed(name, user, masked(url)) for name, url in mine.targets.items())
                yield from (Listed(name, user, None, problem) for name, problem in mine.unusable.items())

    def check(self, owner: str, targets: Iterable[str]) -> tuple[str, ...]:
        """These targets, each once. Refuses one that does not exist, and all if apprise is not installed."""
        asked = tuple(dict.fromkeys(targets))
        for target in asked:
            if self.url(owner, target) is not None:
                continue
            self._refuse_unusable(owner, target)
            if "://" in target:
                raise invalid("notify.url")  # without the URL, which may contain a secret
            if ADDRESS.fullmatch(target):
                raise invalid("notify.no_mail", address=target)
            known = self.names(owner)
            near = get_close_matches(target, known, n=1)
            if near:
                raise invalid("notify.misspelled", target=target, near=near[0])
            if known:
                raise invalid("notify.unknown", target=target, known=known)
            raise invalid("notify.none_configured", target=target)
        if asked and not is_installed():
            raise invalid("notify.not_installed")
        return asked

    def _refuse_unusable(self, owner: str, target: str) -> None:
        for preferences in (self.users.get(owner, Preferences()), self.everyone):
            if target in preferences.unusable:
                raise preferences.unusable[target]

    def defaults(self, owner: str) -> tuple[str, ...]:
        """The targets of a job without --notify."""
        mine = self.users.get(owner, Preferences()).default
        return (self.everyone.default if mine is None else mine) or ()

    def default_events(self, owner: str) -> tuple[str, ...]:
        """The events of a job without --on."""
        mine = self.users.get(owner, Preferences()).on
        return (self.everyone.on if mine is None else mine) or DEFAULT_ON

    def subscriptions(self) -> list[Subscription]:
        """Who gets the events of the queue as a whole."""
        found = []
        for owner, mine in (("", self.everyone), *self.users.items()):
            events = QUEUE_EVENTS if mine.queue_on is None else mine.queue_on
            found += [Subscription(owner, target, events) for target in mine.queue or ()]
        return found


def is_installed() -> bool:
    """Is the extra `notify` installed? Looks for apprise without importing it."""
    return importlib.util.find_spec("apprise") is not None


def with_recipient(url: str, address: str) -> str:
    """The URL of a mail target, with this address instead of its recipients."""
    base, _, query = url.partition("?")
    kept = [pair for pair in query.split("&") if pair and not pair.startswith(("to=", "cc=", "bcc="))]
    return f"{base}?{'&'.join([*kept, f'to={address}'])}"


# The config file


def read_targets(path: Path, value: Any) -> Targets:
    """`[notify]` of the config file. Messages never contain a URL."""
    if not isinstance(value, dict):
        raise invalid("config.notify_not_a_table", path=path)
    given = {key: part for key, part in value.items() if key not in {"users", "proxy"}}
    everyone = _preferences(path, NOTIFY, given, {}, more=("users", "proxy"))
    users = value.get("users", {})
    if not isinstance(users, dict) or not all(isinstance(mine, dict) for mine in users.values()):
        raise invalid("config.notify_users", path=path)
    proxy = value.get("proxy")
    if proxy is not None and not (isinstance(proxy, str) and URL.fullmatch(proxy)):
        raise invalid("config.notify_proxy", path=path)
    return Targets(
        everyone=everyone,
        users={
            user: _preferences(path, f"{NOTIFY}.users.{user}", mine, everyone.targets) for user, mine in users.items()
        },
        proxy=proxy,
    )


def _preferences(
    path: Path, table: str, given: Mapping[str, Any], of_all: Mapping[str, str], more: tuple[str, ...] = ()
) -> Preferences:
    """`of_all`: targets that this user can name, too. `more`: further keys that may be there."""
    known = ["targets", *LISTS, *more]
    for key in given:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            raise invalid("config.notify_key", path=path, table=table, key=key, near=near[0] if near else None)
    targets, unusable = _urls(path, table, given.get("targets", {}))
    lists = {key: _words(path, table, key, given[key]) for key in LISTS if key in given}
    for key in ("default", "queue"):
        for target in lists.get(key, ()):
            is_named = target in targets or target in unusable or target in of_all
            if not is_named and not _is_address(target, targets, of_all):
                raise invalid("config.notify_no_target", path=path, table=table, key=key, target=target)
    for key, events in (("on", JOB_EVENTS), ("queue_on", QUEUE_EVENTS)):
        for event in lists.get(key, ()):
            if event not in events:
                raise invalid("config.notify_event", path=path, table=table, key=key, event=event, known=events)
    return Preferences(targets=targets, unusable=unusable, **lists)


def _is_address(word: str, *targets: Mapping[str, str]) -> bool:
    return ADDRESS.fullmatch(word) is not None and any(MAIL in named for named in targets)


def _urls(path: Path, table: str, value: Any) -> tuple[dict[str, str], dict[str, Refused]]:
    """The targets, and those that cannot be used. A mistake in one of them does not stop everything else."""
    if not isinstance(value, dict):
        raise invalid("config.notify_targets", path=path, table=table)
    unusable = {}
    for name, url in value.items():
        if not NAME.fullmatch(name) or name == NONE:
            unusable[name] = invalid("config.notify_name", path=path, table=table, name=name)
        elif not isinstance(url, str) or not URL.fullmatch(url):
            unusable[name] = invalid("config.notify_url", path=path, table=table, name=name)
    return {name: url for name, url in value.items() if name not in unusable}, unusable


def _words(path: Path, table: str, key: str, value: Any) -> tuple[str, ...]:
    """A list of words, or one text with commas."""
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise invalid("config.notify_words", path=path, table=table, key=key)
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip() and word.strip() != NONE))
