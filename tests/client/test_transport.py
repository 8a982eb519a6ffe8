import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

import pytest

from tarmac import __version__
from tarmac.client import Client
from tarmac.client.connection import keep_asking
from tarmac.client.fast.json_codec import decode, encode
from tarmac.client.follow import sse
from tarmac.client.liveness import diagnose_silence
from tarmac.client.transport import Connection, NoAnswer, NoController
from tarmac.errors import NotAllowed, NotFound, OutcomeUnknown, TarmacError, TooNew, Unavailable, UserError
from tarmac.shared.names import API
from tests.cli.stub import answer, chunked, serving
from tests.home import until
from tests.services import need


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tarmac.sock"


def a_client(path: Path) -> Client:
    return Client(path.parent, start=False)


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


def test_a_submit_whose_connection_broke_is_sent_again_with_its_token(path: Path) -> None:
    with serving(path, None, answer(b'{"ids": [7]}', "201 Created")) as stub:
        assert a_client(path).submit_many([{"command": ["true"]}]) == [7]
    first, second = (json.loads(request.partition(b"\r\n\r\n")[2]) for request in stub.requests)
    assert first == second
    assert len(first["token"]) == 32


def key_of(request: bytes) -> str:
    return request.partition(b"Idempotency-Key: ")[2].partition(b"\r\n")[0].decode()


def test_a_change_is_repeated_with_its_key_until_it_is_answered(path: Path) -> None:
    half = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{}"
    with serving(path, None, half, None, answer(b'{"removed": [3]}'), answer(b'{"removed": []}')) as stub:
        stub.closes_after = half
        client = a_client(path)
        assert client.rm(3) == [3]
        client.rm(4)
    assert len({key_of(request) for request in stub.requests[:4]}) == 1
    assert len(key_of(stub.requests[0])) == 32
    assert key_of(stub.requests[4]) != key_of(stub.requests[0]), "another request has another key"


def test_a_read_is_repeated_until_it_is_answered(path: Path) -> None:
    with serving(path, None, None, None, answer(b'{"paused": false}')) as stub:
        assert a_client(path).queue() == {"paused": False}
    assert len(stub.requests) == 4
    assert not any(map(key_of, stub.requests))


def test_a_change_that_is_never_answered_is_reported_as_unknown(path: Path) -> None:
    with serving(path, None, None) as stub:
        client = a_client(path)
        client.patience_s = 0
        with pytest.raises(OutcomeUnknown, match="it is unknown whether the request was carried out"):
            client.rm(3)
    assert len(stub.requests) == 2
    assert not client.is_unsure


def turned_away(key: str = "server.too_many_connections") -> bytes:
    error = {"code": "unavailable", "key": key, "message": "your user has too many connections", "hint": None}
    return answer(json.dumps({"error": error}).encode(), "503 Service Unavailable", "connection: close")


@pytest.mark.parametrize("key", ["server.too_many_connections", "server.crowded", "server.too_many_bodies"])
def test_a_request_that_is_turned_away_is_repeated(path: Path, key: str) -> None:
    with serving(path, turned_away(key), turned_away(key), answer(b'{"removed": [3]}')) as stub:
        assert a_client(path).rm(3) == [3]
    assert len({key_of(request) for request in stub.requests}) == 1
    assert len(stub.requests) == 3


def test_a_request_that_is_always_turned_away_was_not_carried_out(path: Path) -> None:
    with serving(path, *[turned_away()] * 9):
        client = a_client(path)
        client.patience_s = 0.1
        with pytest.raises(Unavailable, match="too many connections") as caught:
            client.rm(3)
    assert not isinstance(caught.value, OutcomeUnknown)
    assert not client.is_unsure


def test_a_repetition_that_is_turned_away_leaves_the_outcome_unknown(path: Path) -> None:
    with serving(path, None, *[turned_away()] * 9):
        client = a_client(path)
        client.patience_s = 0.1
        with pytest.raises(OutcomeUnknown, match="too many connections"):
            client.rm(3)


def test_a_stream_that_is_turned_away_is_asked_for_again(path: Path) -> None:
    with serving(path, turned_away("server.crowded"), turned_away(), chunked(b"output")) as stub:
        client = a_client(path)
        assert keep_asking(client, client.stream, "/jobs/3/log").read() == b"output"
    assert len(stub.requests) == 3


def test_a_request_that_is_turned_away_for_long_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarmac.client.connection.SAY_AFTER_S", 0.05)
    told: list[str] = []
    with serving(path, *[turned_away()] * 3, answer(b'{"paused": false}')):
        client = a_client(path)
        client.on_stale = told.append
        client.queue()
    assert set(told) == {"your user has too many connections; trying again"}


def test_other_refusals_of_the_controller_are_final(path: Path) -> None:
    with serving(path, turned_away("server.cannot_write")) as stub, pytest.raises(Unavailable):
        a_client(path).rm(3)
    assert len(stub.requests) == 1


def test_a_change_that_was_never_sent_is_not_unknown(path: Path) -> None:
    with pytest.raises(NoController):
        a_client(path).rm(3)


def test_an_interrupt_says_that_the_outcome_is_unknown(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with serving(path, None):
        client = a_client(path)
        monkeypatch.setattr("tarmac.client.transport.Connection.request", interrupt)
        with pytest.raises(KeyboardInterrupt) as caught:
            client.rm(3)
        assert "unknown whether" in caught.value.__notes__[0]
        with pytest.raises(KeyboardInterrupt) as read:
            client.queue()
    assert not getattr(read.value, "__notes__", [])


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


def test_the_fast_json_codec_equals_the_json_module() -> None:
    value = {"a": [1, 2.5, None, True, "é\n\x00🚀"], "b": {}, "c": [[]]}
    assert json.loads(encode(value)) == value
    assert decode(f" {json.dumps(value)} \n") == value


@pytest.mark.parametrize("text", ["", "{", "{} {}", "nonsense", '{"a": }'])
def test_invalid_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decode(text)


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


@contextmanager
def silence(path: Path) -> Iterator[socket.socket]:
    """Accept connections without answering, like a suspended controller."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        yield listener


def test_a_request_times_out_if_the_controller_does_not_answer(path: Path) -> None:
    with silence(path):
        client = a_client(path)
        client.answer_s = 0.1
        for ask in (client.status, lambda: client.stream("/events"), lambda: keep_asking(client, client.status)):
            with pytest.raises(NoAnswer, match=rf"the controller \(pid {os.getpid()}\) does not answer"):
                ask()


def test_silence_is_reported_again_and_again_until_the_limit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarmac.client.transport.SILENCE_S", 0.1)
    heard: list[tuple[int, float]] = []
    with silence(path):
        client = a_client(path)
        client.answer_s = 0.45
        client.on_silence = lambda pid, seconds: heard.append((pid, round(seconds, 1)))
        with pytest.raises(NoAnswer):
            client.status()
    assert heard == [(os.getpid(), number / 10) for number in range(1, 5)]


def test_silence_while_a_large_request_is_sent_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarmac.client.transport.SILENCE_S", 0.1)
    heard: list[float] = []
    with silence(path):
        client = a_client(path)
        client.on_silence = lambda _, seconds: heard.append(seconds)
        with pytest.raises(NoAnswer):
            client.call("POST", "/jobs", body="x" * 2_000_000, within_s=0.3)
    assert heard


def test_a_controller_that_takes_no_connections_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarmac.client.transport.SILENCE_S", 0.1)
    monkeypatch.setattr("tarmac.client.transport.CONNECT_S", 0.4)
    heard: list[int] = []
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as first:
        listener.bind(str(path))
        listener.listen(0)
        first.connect(str(path))
        client = a_client(path)
        client.on_silence = lambda pid, _: heard.append(pid)
        with pytest.raises(NoAnswer, match="too many are waiting"):
            client.status()
    assert heard == [0, 0, 0, 0]


def test_waiting_for_a_job_is_not_silence(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarmac.client.transport.SILENCE_S", 0.1)
    heard: list[float] = []
    with silence(path):
        client = a_client(path)
        client.answer_s = 0.2
        client.on_silence = lambda _, seconds: heard.append(seconds)
        with pytest.raises(NoAnswer):
            client.wait(7, timeout_s=0.5)
    assert heard, "the answer is overdue"
    assert heard[0] < 0.4, "the silence is counted from the end of the wait"


def test_a_silent_stream_is_checked_by_another_request(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tarmac.client.transport.SILENCE_S", 0.1)
    monkeypatch.setattr("tarmac.client.connection.CHECK_STREAM_S", 0.1)
    begun = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    with silence(path) as listener, ThreadPoolExecutor() as threads:
        client = a_client(path)
        client.answer_s = 0.3
        coming = threads.submit(client.stream, "/events")
        served, _ = listener.accept()
        with served:
            served.sendall(begun)
            taken = threads.submit(coming.result().receive)
            with pytest.raises(NoAnswer):
                taken.result()


@contextmanager
def another_process(code: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", f"print(flush=True)\n{code}"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # Python itself has started
        try:
            yield process
        finally:
            process.kill()


def test_a_busy_controller_is_not_to_be_killed() -> None:
    with another_process("while True: pass") as process:
        assert until(lambda: diagnose_silence(process.pid) == "busy")
        error = NoAnswer(process.pid)
    assert error.message == f"the controller (pid {process.pid}) is busy; the request may still be carried out"
    assert "kill" not in str(error.hint)


def test_a_suspended_controller_is_to_be_continued_not_killed() -> None:
    with another_process("while True: pass") as process:
        os.kill(process.pid, signal.SIGSTOP)
        assert until(lambda: diagnose_silence(process.pid) == "stopped")
        error = NoAnswer(process.pid)
    assert "it is suspended" in error.message
    assert f"kill -CONT {process.pid}" in str(error.hint)
    assert "kill -9" not in str(error.hint)


def test_a_stuck_controller_may_be_killed() -> None:
    with another_process("import time; time.sleep(600)") as process:
        assert until(lambda: diagnose_silence(process.pid) == "stuck")
        assert f"kill -9 {process.pid}" in str(NoAnswer(process.pid).hint)
    assert diagnose_silence(process.pid, look_s=0) == "stuck", "nothing is to be seen of it"


def test_an_unknown_controller_has_no_pid_in_the_message() -> None:
    error = NoAnswer(0)
    assert "too many are waiting" in error.message
    assert "kill" not in str(error.hint)


def test_a_long_poll_may_exceed_the_default_timeout(path: Path) -> None:
    with silence(path):
        client = a_client(path)
        client.answer_s = 0.1
        with pytest.raises(NoAnswer):
            client.wait(7, timeout_s=0.1)


def test_a_stream_that_has_begun_may_pause(path: Path) -> None:
    begun = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    with silence(path) as listener, a_client(path) as client:
        client.answer_s = 0.2
        with ThreadPoolExecutor() as threads:
            coming = threads.submit(client.stream, "/events")
            served, _ = listener.accept()
            with served:
                served.sendall(begun)
                taken = threads.submit(coming.result().receive)
                assert wait([taken], timeout=0.4).not_done
                served.sendall(b"0\r\n\r\n")
                assert taken.result() == b"0\r\n\r\n"


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
