"""The port of the page: closed until it is wanted, kept over restarts."""

from __future__ import annotations

import os
import signal
import socket

import pytest

from tarmac.errors import Conflict, Unavailable
from tests.home import Home
from tests.web.browser import logged_in


def test_nothing_listens_before_the_page_is_wanted(home: Home) -> None:
    home.tarmac("status")
    pid = home.pid_of("controller")
    assert not _tcp_ports(pid)
    browser = logged_in(home.client())
    assert _tcp_ports(pid) == {browser.port}


def test_a_restart_keeps_the_port_and_the_session(home: Home) -> None:
    home.tarmac("status")
    browser = logged_in(home.client())
    os.kill(home.pid_of("controller"), signal.SIGKILL)
    home.tarmac("status")  # starts another one
    assert browser.ask("GET", "/session").json["user"]
    assert logged_in(home.client()).port == browser.port


def test_without_a_session_a_restart_listens_no_more(home: Home) -> None:
    home.tarmac("status")
    browser = logged_in(home.client())
    browser.ask("POST", "/logout")
    home.tarmac("stop")
    home.tarmac("status")
    assert not _tcp_ports(home.pid_of("controller"))


def test_a_port_can_be_chosen_but_not_changed(home: Home) -> None:
    home.tarmac("status")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=f"port {port}"):
            home.client().page_link(port)
    assert home.client().page_link(port)["url"].startswith(f"http://127.0.0.1:{port}/login#")
    with pytest.raises(Conflict, match=f"already served on port {port}"):
        home.client().page_link(port + 1)


def test_a_port_that_was_taken_meanwhile_is_replaced(home: Home) -> None:
    home.tarmac("status")
    browser = logged_in(home.client())
    home.tarmac("stop")
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", browser.port))
        taken.listen()
        home.tarmac("status")
        assert logged_in(home.client()).port != browser.port


def _tcp_ports(pid: int) -> set[int]:
    """The ports on which a process listens."""
    inodes = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(f"/proc/{pid}/fd/{fd}")
        except FileNotFoundError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    found = set()
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}") as rows:
            for row in [line.split() for line in rows][1:]:
                if row[3] == "0A" and row[9] in inodes:
                    found.add(int(row[1].rpartition(":")[2], 16))
    return found
