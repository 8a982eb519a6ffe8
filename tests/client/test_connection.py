"""Requests that break, are turned away or get no answer: repeated where that is safe, and reported."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

import pytest

from tarmac.client import Client
from tarmac.client.changes import clone, label
from tarmac.client.controller_process.patience import keep_asking
from tarmac.client.transport import NoAnswer, NoController
from tarmac.errors import OutcomeUnknown, Unavailable
from tests.cli.stub import answer, chunked, serving
from tests.client.clients import a_client


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
    monkeypatch.setattr("tarmac.client.controller_process.patience.SAY_AFTER_S", 0.05)
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


@contextmanager
def silence(path: Path) -> Iterator[socket.socket]:
    """Accept connections without answering, like a stopped controller."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        yield listener


def test_a_request_times_out_if_the_controller_does_not_answer(path: Path) -> None:
    with silence(path):
        client = a_client(path)
        client.answer_s = 0.1
        for ask in (client.status, lambda: client.stream("/events"), lambda: keep_asking(client, client.status)):
            with pytest.raises(NoAnswer, match=rf"the controller \(pid {os.getpid()}\) (does not answer|is busy)"):
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


@pytest.mark.parametrize(
    "selected", [((), {"group": "5"}), (("all",), {}), (("1-9",), {"tag": None}), (tuple(map(str, range(2000))), {})]
)
def test_a_change_of_very_many_jobs_may_take_longer_than_others(
    path: Path, selected: tuple[tuple[str, ...], dict[str, str | None]]
) -> None:
    ids, filters = selected
    patience: list[float | None] = []
    with serving(path, *(answer(b'{"held": [], "not_waiting": []}') for _ in range(2))):
        client = a_client(path)
        read = client._read
        client._read = lambda request, within_s, waits_s=0: (patience.append(within_s), read(request, within_s))[1]  # type: ignore[method-assign, assignment]
        client.hold(*ids, **filters)
        client.hold(7, "8")
    assert patience == [900, None]


@pytest.mark.parametrize(
    "verb",
    [
        lambda client: client.rm("1-9"),
        lambda client: client.retry(failed=True),
        lambda client: client.edit_many(["all"], priority=3),
        lambda client: label(client, ["1-9"], set_name="a"),
        lambda client: clone(client, ["1-9"]),
    ],
)
def test_every_change_of_very_many_jobs_may_take_longer(path: Path, verb: Callable[[Client], object]) -> None:
    patience: list[float | None] = []
    with serving(path, answer(b'{"removed": [], "labelled": [], "ids": []}')):
        client = a_client(path)
        read = client._read
        client._read = lambda request, within_s, waits_s=0: (patience.append(within_s), read(request, within_s))[1]  # type: ignore[method-assign, assignment]
        verb(client)
    assert patience == [900]
