"""A connection through ssh, as the client sees it. The other end is a socket of the test."""

import json
import socket
import threading
from collections.abc import Iterator

import pytest

from tarmac.client.remote.remote import _Channel
from tarmac.client.transport import NoAnswer, NoController
from tarmac.errors import ConnectionLost, UserError


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    with far:
        yield near, far


def refusal(**more: object) -> bytes:
    error = {"is_absent": False, "was_stopped": False, "code": "refused", "message": "no", "hint": "why", "key": "k"}
    return json.dumps({**error, **more}).encode() + b"\n"


def test_the_ssh_agent_of_this_machine_is_not_named(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/tmp/agent")
    near, far = pair
    far.sendall(b"ok\nHTTP/1.1 204 No Content\r\n\r\n")
    connection = _Channel("gpu01", near, None)
    assert connection.request("GET", "/x").status == 204
    sent = far.recv(65536)
    assert b"GET /x HTTP/1.1\r\n" in sent
    assert b"ssh-agent" not in sent.lower()


def test_a_refusal_at_the_other_end_is_raised_here(pair: tuple[socket.socket, socket.socket]) -> None:
    near, far = pair
    far.sendall(refusal())
    with pytest.raises(UserError, match="no") as caught:
        _Channel("gpu01", near, None)
    assert (caught.value.hint, caught.value.key) == ("why", "k")


def test_a_controller_that_is_absent_there_is_absent(pair: tuple[socket.socket, socket.socket]) -> None:
    near, far = pair
    far.sendall(refusal(is_absent=True, was_stopped=True))
    with pytest.raises(NoController) as caught:
        _Channel("gpu01", near, None)
    assert caught.value.was_stopped


def test_errors_name_the_machine(pair: tuple[socket.socket, socket.socket]) -> None:
    near, far = pair
    far.sendall(b"ok\n")
    connection = _Channel("gpu01", near, None)
    ending = threading.Thread(target=lambda: (far.recv(65536), far.close()))
    ending.start()
    with pytest.raises(ConnectionLost, match="the connection to gpu01 broke"):
        connection.request("GET", "/x")
    ending.join()
    assert "the controller on gpu01 does not answer" in connection.no_answer().message
    assert isinstance(connection.no_answer(), NoAnswer)
