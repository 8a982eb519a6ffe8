import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tarmac import __version__
from tarmac.client import Client
from tarmac.client.fast.json_codec import encode
from tarmac.client.follow import sse
from tarmac.client.transport import Connection, NoController
from tarmac.errors import NotAllowed, NotFound, TarmacError, TooNew, Unavailable, UserError
from tarmac.shared.names import API
from tests.cli.stub import answer, chunked, serving
from tests.client.clients import a_client
from tests.services import need

LISTEN_AS_NOBODY = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.setgid(65534)
os.setuid(65534)
listener.listen()
print("ready", flush=True)
connection, _ = listener.accept()
print(len(connection.recv(65536)), flush=True)
"""


def test_every_request_has_the_api_version(path: Path) -> None:
    with serving(path, answer(b'{"ok": true}')) as stub:
        assert a_client(path).call("GET", "/status") == {"ok": True}
    head = stub.requests[0].decode()
    assert head.startswith("GET /api/v1/status HTTP/1.1\r\n")
    assert f"Tarmac-Api: {API}\r\n" in head
    assert f"User-Agent: tarmac/{__version__}\r\n" in head


@pytest.mark.parametrize(
    ("told", "sent"),
    [("Asia/Tokyo", b"Tarmac-Zone: Asia/Tokyo\r\n"), (":UTC", b"Tarmac-Zone: UTC\r\n"), ("a\r\nb", None), ("", None)],
)
def test_every_request_has_the_time_zone(
    path: Path, monkeypatch: pytest.MonkeyPatch, told: str, sent: bytes | None
) -> None:
    monkeypatch.setenv("TZ", told)
    with serving(path, answer(b"{}")) as stub:
        a_client(path).call("GET", "/status")
    assert (sent in stub.requests[0]) if sent else (b"Tarmac-Zone" not in stub.requests[0])


def test_a_path_too_long_for_a_socket_address_is_reached(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 100) / ("y" * 100) / "tarmac.sock"
    path.parent.mkdir(parents=True)
    with serving(path, answer(b'{"ok": true}')):
        assert a_client(path).call("GET", "/status") == {"ok": True}


def test_a_query_is_escaped(path: Path) -> None:
    with serving(path, answer(b'{"jobs": [], "next": null}')) as stub:
        list(a_client(path).jobs(["3-7", "last"], name="a b&c=数*"))
    assert b"ids=3-7,last&name=a%20b%26c%3D%E6%95%B0%2A&" in stub.requests[0]


def test_a_connection_is_reused(path: Path) -> None:
    with serving(path, answer(b'{"n": 1}'), chunked(b'{"n"', b": 2}"), answer(b'{"n": 3}')) as stub:
        with a_client(path) as client:
            assert [client.call("GET", "/status")["n"] for _ in range(3)] == [1, 2, 3]
    assert stub.connections == 1


def test_a_closed_connection_is_not_reused(path: Path) -> None:
    with serving(path, answer(b'{"n": 1}', "200 OK", "connection: close"), answer(b'{"n": 2}')) as stub:
        client = a_client(path)
        assert client.call("POST", "/jobs/kill", body={})["n"] == 1
        assert client.call("POST", "/jobs/kill", body={})["n"] == 2
    assert stub.connections == 2


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        ("400 Bad Request", "refused", UserError),
        ("404 Not Found", "not_found", NotFound),
        ("426 Upgrade Required", "too_new", TooNew),
        ("503 Service Unavailable", "unavailable", Unavailable),
        ("418 Teapot", "unheard_of", UserError),
        ("500 Internal Server Error", "internal", TarmacError),
    ],
)
def test_an_error_body_becomes_the_exception_of_its_code(
    path: Path, status: str, code: str, kind: type[TarmacError]
) -> None:
    body = encode({"error": {"code": code, "message": "no such thing", "hint": "try another"}}).encode()
    with serving(path, answer(body, status)):
        with pytest.raises(kind) as caught:
            a_client(path).call("GET", "/jobs/9")
    assert (caught.value.message, caught.value.hint) == ("no such thing", "try another")


def test_an_error_without_a_body_is_still_an_error(path: Path) -> None:
    with serving(path, answer(b"<html>", "502 Bad Gateway")):
        with pytest.raises(TarmacError, match="502"):
            a_client(path).call("GET", "/status")


def test_an_answer_that_is_not_http_is_reported(path: Path) -> None:
    with serving(path, b"SSH-2.0-OpenSSH_9.2\r\n"):
        with pytest.raises(Unavailable, match="not HTTP"):
            a_client(path).call("POST", "/stop")


def test_a_missing_controller_is_reported(path: Path) -> None:
    with pytest.raises(NoController):
        Connection(str(path))
    path.touch()
    with pytest.raises(Unavailable):
        Connection(str(path))


def test_a_socket_path_may_exceed_the_address_length(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 20) / ("deeper" * 20)
    folder.mkdir(parents=True)
    assert len(os.fsencode(folder)) > 107
    with serving(folder / "tarmac.sock", answer(b'{"ok": 1}')):
        assert Client(folder, start=False).call("GET", "/status") == {"ok": 1}


def test_events_are_read_across_chunks(path: Path) -> None:
    with serving(path, chunked(b"event: job\nid: 4\nda", b'ta: {"id": 1}\n\nevent: pi', b"ng\ndata: {}\n\n")):
        messages = list(sse(a_client(path).stream("/events")))
    assert messages == [("job", '{"id": 1}', "4"), ("ping", "{}", "4")]


def message(kind: str, event_id: int, data: str = "{}") -> bytes:
    return f"event: {kind}\nid: {event_id}\ndata: {data}\n\n".encode()


def a_change(number: int) -> str:
    return json.dumps({"id": number, "state": "running"})


def test_events_are_received_from_the_call_on(path: Path) -> None:
    with serving(path, chunked(message("hello", 5))) as stub:
        a_client(path).events()
        assert len(stub.requests) == 1


def test_a_broken_stream_resumes_after_the_last_event(path: Path) -> None:
    first = chunked(message("hello", 5), message("job", 7, a_change(1)))
    cut_short = chunked(message("hello", 9))
    again = chunked(message("hello", 9), message("job", 8, a_change(2)), message("job", 9, a_change(3)))
    with serving(path, first, cut_short, None, again) as stub:
        events = a_client(path).events()
        seen = [next(events).job for _ in range(3)]
    assert [job.id for job in seen if job is not None] == [1, 2, 3]
    assert b"Last-Event-ID" not in stub.requests[0]
    assert all(b"Last-Event-ID: 7" in request for request in stub.requests[1:])


def test_nothing_is_sent_to_a_socket_of_another_user(path: Path) -> None:
    need("root")
    command = [sys.executable, "-c", LISTEN_AS_NOBODY, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as stranger:
        assert stranger.stdout is not None
        assert stranger.stdout.readline() == b"ready\n"
        with pytest.raises(NotAllowed, match="another user"):
            a_client(path).submit_many([{"command": ["true"]}])
        assert stranger.stdout.readline() == b"0\n"


def test_the_client_reports_a_controller_that_cannot_write(path: Path) -> None:
    heard: list[str] = []
    with serving(path, answer(b"{}", "200 OK", "Tarmac-Degraded: disk full: gr%C3%B6%C3%9Fer, 100%25"), answer(b"{}")):
        client = a_client(path)
        client.on_trouble = heard.append
        client.status()
        client.status()
    assert heard == ["disk full: größer, 100%"]
