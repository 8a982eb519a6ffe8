"""What browsers may do: nothing without a log-in, nothing for other sites, and what the API allows otherwise."""

from __future__ import annotations

import gzip
import os
import pwd
import re
import sqlite3
from pathlib import Path

import pytest

from tarmac.api.routes.table import ROUTES
from tests.api.served import Served
from tests.web.browser import Browser, linked, logged_in


def filled(path: str) -> str:
    return re.sub(r"\{\w+(:\w+)?\}", "1", path)


def test_a_link_logs_in_once(served_home: Served) -> None:
    browser, word = linked(served_home.client)
    assert browser.ask("GET", "/session").status == 401
    answer = browser.log_in(word)
    assert answer.status == 204
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(
        rf"tarmac_session_{browser.port}=[\w-]{{43}}; Max-Age=\d+; Path=/; HttpOnly; SameSite=Lax", cookie
    )
    assert browser.ask("GET", "/session").json["user"] == pwd.getpwuid(os.getuid()).pw_name
    again = Browser(browser.port).log_in(word)
    assert (again.status, again.key) == (403, "page.link_used_up")


@pytest.mark.parametrize("body", [b"", b"{}", b'{"link": 5}', b'{"link": "wrong"}', b"[" * 5000, b'"' + b"x" * 5000])
def test_a_wrong_login_is_refused(served_home: Served, body: bytes) -> None:
    browser, _ = linked(served_home.client)
    answer = browser.ask("POST", "/login", body)
    assert answer.status in {400, 403}
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_no_route_answers_without_a_login(served_home: Served, route: object) -> None:
    browser, _ = linked(served_home.client)
    path = filled(route.path)  # type: ignore[attr-defined]
    browser.cookie = f"tarmac_session_{browser.port}=guess"
    answer = browser.ask(route.method, f"/api/v1{path}")  # type: ignore[attr-defined]
    expected = {(401, "page.not_logged_in")}
    assert (answer.status, answer.key) in expected


def test_the_session_is_the_same_user_as_on_the_socket(served_home: Served) -> None:
    browser = logged_in(served_home.client)
    body = {"cwd": "/", "environment": {}, "jobs": [{"command": ["true"], "gpus": 0}]}
    submitted = browser.ask("POST", "/api/v1/jobs", body)
    assert submitted.status == 201, submitted.body
    job = browser.ask("GET", f"/api/v1/jobs/{submitted.json['ids'][0]}").json
    assert job["owner"] == browser.ask("GET", "/session").json["user"] == pwd.getpwuid(os.getuid()).pw_name


CHANGES = [("POST", "/api/v1/queue/pause", {}), ("POST", "/logout", None), ("PUT", "/api/v1/notice", {"text": "x"})]
CHANGING = [(route.method, f"/api/v1{filled(route.path)}", {}) for route in ROUTES if route.method != "GET"]


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"Origin": "http://evil.example"}, "page.foreign_origin"),
        ({"Origin": None}, "page.foreign_origin"),
        ({"Origin": "null"}, "page.foreign_origin"),
        ({"Tarmac_Csrf": None}, "page.wrong_token"),
        ({"Tarmac_Csrf": "0" * 64}, "page.wrong_token"),
        ({"Tarmac_Csrf": "é"}, "page.wrong_token"),
    ],
)
def test_another_site_changes_nothing(served_home: Served, changed: dict[str, str | None], key: str) -> None:
    browser = logged_in(served_home.client)
    for method, path, body in [*CHANGES, *CHANGING]:
        answer = browser.ask(method, path, body, **changed)
        assert (answer.status, answer.key) == (403, key), path
    assert browser.ask("GET", "/session").status == 200
    assert served_home.client.status()["paused"] is False
    assert served_home.client.notice() is None


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}", ""]
)
@pytest.mark.parametrize("path", ["/", "/session", "/api/v1/jobs", "/page/index.html"])
def test_a_name_of_another_site_that_leads_here_is_refused(served_home: Served, host: str, path: str) -> None:
    browser = logged_in(served_home.client)
    answer = browser.ask("GET", path, Host=host.format(port=browser.port))
    assert (answer.status, answer.key) == (403, "page.foreign_host")


def test_no_change_is_made_by_another_name(served_home: Served) -> None:
    """Not even with the right cookie and token: by rebinding its name, a site makes the browser send them."""
    browser = logged_in(served_home.client)
    evil = f"evil.example:{browser.port}"
    for method, path, body in [*CHANGES, *CHANGING, ("POST", "/login", {"link": "x"})]:
        answer = browser.ask(method, path, body, Host=evil, Origin=f"http://{evil}")
        assert (answer.status, answer.key) == (403, "page.foreign_host"), path


def test_localhost_is_this_page_too(served_home: Served) -> None:
    browser = logged_in(served_home.client)
    assert browser.ask("GET", "/session", Host=f"localhost:{browser.port}").status == 200


@pytest.mark.parametrize("path", ["/", "/queue", "/jobs/5?tab=log", "/a/b/c", "/login"])
def test_every_view_is_the_same_page(served_home: Served, path: str) -> None:
    browser, _ = linked(served_home.client)
    answer = browser.ask("GET", path)
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert b'<script type="module" src="/page/main.js">' in answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/page/../files.py",
        "/page/..%2ffiles.py",
        "/page//etc/passwd",
        "/packages/lock.sha256",
        "/page/",
        "/page/nothing.js",
        "/page/\0",
    ],
)
def test_no_other_file_is_served(served_home: Served, path: str) -> None:
    browser, _ = linked(served_home.client)
    assert browser.ask("GET", path.replace("\0", "%00")).status == 404


def test_files_are_compressed_and_not_sent_twice(served_home: Served) -> None:
    browser, _ = linked(served_home.client)
    plain = browser.ask("GET", "/packages/preact/dist/preact.mjs")
    packed = browser.ask("GET", "/packages/preact/dist/preact.mjs", Accept_Encoding="gzip, br")
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body) / 2
    again = browser.ask("GET", "/packages/preact/dist/preact.mjs", If_None_Match=plain.headers["etag"])
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", ["/", "/page/main.js", "/session", "/api/v1/status", "/nothing"])
def test_every_answer_forbids_foreign_scripts(served_home: Served, path: str) -> None:
    browser = logged_in(served_home.client)
    headers = browser.ask("GET", path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["script-src"] == "'self'"
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"


def test_a_logout_ends_one_session_and_the_command_line_ends_all(served_home: Served) -> None:
    first, second = logged_in(served_home.client), logged_in(served_home.client)
    assert first.ask("POST", "/logout").status == 204
    assert first.ask("GET", "/session").status == 401
    assert second.ask("GET", "/session").status == 200
    served_home.client.log_out_of_page()
    assert second.ask("GET", "/session").status == 401


def test_nothing_that_is_stored_logs_anyone_in(served_home: Served) -> None:
    browser, word = linked(served_home.client)
    browser.log_in(word)
    assert browser.cookie is not None
    secret = browser.cookie.partition("=")[2]
    for path in served_home.home.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert secret.encode() not in data, path
            assert word.encode() not in data, path
    with sqlite3.connect(f"file:{served_home.home}/tarmac.db?mode=ro", uri=True) as connection:
        (stored,) = connection.execute("SELECT value FROM settings WHERE name = 'page_sessions'").fetchone()
    assert (
        Browser(browser.port, cookie=f"tarmac_session_{browser.port}={stored[2:66]}").ask("GET", "/session").status
        == 401
    )


def test_the_socket_of_the_page_is_on_loopback_only(served_home: Served) -> None:
    browser, _ = linked(served_home.client)
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{browser.port:04X}")]
    assert listening == [f"0100007F:{browser.port:04X}"]
