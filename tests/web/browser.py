"""What a browser sends to the page, without a browser: a cookie, an origin, a token."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tarmac.client import Client

WITHIN_S = 20.0


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def key(self) -> str:
        """Of a refusal."""
        key: str = self.json["error"]["key"]
        return key


@dataclass
class Browser:
    port: int
    cookie: str | None = None
    csrf: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: Any = None, **changed: str | None) -> Answer:
        """As the page asks. `changed`: other headers; None leaves one out."""
        headers: dict[str, str | None] = {"Host": self.host, "Cookie": self.cookie, **self.headers}
        if method not in {"GET", "HEAD"}:
            headers |= {"Origin": f"http://{self.host}", "Tarmac-Csrf": self.csrf, "Content-Type": "application/json"}
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=WITHIN_S)) as connection:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body)
            sent = {name: value for name, value in headers.items() if value is not None}
            connection.request(method, path, data, sent)
            with connection.getresponse() as answer:
                return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())

    def log_in(self, word: str) -> Answer:
        answer = self.ask("POST", "/login", {"link": word})
        if answer.status == 204:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
            self.csrf = self.ask("GET", "/session").json["csrf"]
        return answer


def linked(client: Client) -> tuple[Browser, str]:
    """A browser that is not logged in yet, and the word that logs it in."""
    parts = urlsplit(client.page_link()["url"])
    assert parts.port is not None
    return Browser(parts.port), parts.fragment


def logged_in(client: Client) -> Browser:
    browser, word = linked(client)
    assert browser.log_in(word).status == 204
    return browser
