"""Who is logged in to the page. A one-time link, made by a caller whom the kernel vouches for, becomes a session.

Sessions survive a restart of the controller; links do not. Both are random words. Only their hashes are kept, so that
nothing in the database or in a backup can be used to log in.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Protocol

import msgspec

from tarmac.controller.engine.decision import Decision
from tarmac.refusal import not_allowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tarmac.controller.engine.engine import Engine
    from tarmac.core.state import State

SETTING = "page_sessions"
LINK_LASTS_S = 300.0
SESSION_LASTS_S = 30 * 86400.0  # since it was last used
USE_IS_NOTED_EVERY_S = 86400.0
MOST_LINKS = 100
MOST_SESSIONS = 1000


class PageServer(Protocol):
    """What serves the page, above the API."""

    async def address(self, port: int | None) -> str:
        """Where the page is, from now on. Without a port: the one of last time, or any."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSession:
    uid: int
    began_at: float
    used_at: float  # to the day


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    uid: int
    until: float  # on the monotonic clock


class PageSessions:
    def __init__(self, engine: Engine, stored: str | None) -> None:
        self._engine = engine
        self._links: dict[str, _Link] = {}
        self._sessions = {} if stored is None else msgspec.json.decode(stored, type=dict[str, PageSession])

    @property
    def are_any(self) -> bool:
        """A session that still counts."""
        return any(self._is_alive(session) for session in self._sessions.values())

    def new_link(self, uid: int) -> str:
        """The word that logs this user in, once."""
        now = monotonic()
        self._links = {key: link for key, link in self._links.items() if link.until > now}
        while len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        word = secrets.token_urlsafe(32)
        self._links[_hash(word)] = _Link(uid=uid, until=now + LINK_LASTS_S)
        return word

    async def begin(self, word: str) -> str:
        """Use up a link. Returns the secret of a new session, once it is on disk."""
        link = self._links.pop(_hash(word), None)
        if link is None or link.until <= monotonic():
            raise not_allowed("page.link_used_up")
        secret, now = secrets.token_urlsafe(32), self._engine.now()
        session = PageSession(uid=link.uid, began_at=now, used_at=now)
        await self._change(lambda kept: {**kept, _hash(secret): session})
        return secret

    async def find(self, secret: str) -> PageSession | None:
        key = _hash(secret)
        session = self._sessions.get(key)
        if session is None or not self._is_alive(session):
            return None
        now = self._engine.now()
        if now - session.used_at > USE_IS_NOTED_EVERY_S and self._engine.degraded is None:
            used = replace(session, used_at=now)
            await self._change(lambda kept: {**kept, key: used} if key in kept else kept)
        return session

    async def end(self, secret: str) -> None:
        key = _hash(secret)
        await self._change(lambda kept: {other: one for other, one in kept.items() if other != key})

    async def end_all(self, uid: int) -> None:
        """Log this user out everywhere."""
        self._links = {key: link for key, link in self._links.items() if link.uid != uid}
        await self._change(lambda kept: {key: one for key, one in kept.items() if one.uid != uid})

    def _is_alive(self, session: PageSession) -> bool:
        return self._engine.now() - session.used_at <= SESSION_LASTS_S

    async def _change(self, change: Callable[[dict[str, PageSession]], dict[str, PageSession]]) -> None:
        def plan(_: State) -> Decision[None]:
            before = self._sessions
            alive = {key: one for key, one in change(before).items() if self._is_alive(one)}
            newest = sorted(alive, key=lambda key: alive[key].used_at)[-MOST_SESSIONS:]
            after = {key: alive[key] for key in newest}

            def install() -> Callable[[], None]:
                self._sessions = after

                def take_back() -> None:
                    self._sessions = before

                return take_back

            return Decision(answer=None, settings={SETTING: msgspec.json.encode(after).decode()}, install=install)

        await self._engine.decide(plan)


def csrf_token(secret: str) -> str:
    """The page sends it with every change. Another site cannot know it: it can neither read cookies nor answers."""
    return sha256(b"csrf:" + secret.encode()).hexdigest()


def _hash(word: str) -> str:
    return sha256(word.encode()).hexdigest()
