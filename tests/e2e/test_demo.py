"""The end of `make demo`, where it offers the page."""

import os
import re
import sys
import urllib.request

import pytest

from tests.home import Home, until
from tests.terminal import Terminal

OFFER = "import os, sys; sys.path.insert(0, 'tools'); import demo; demo.offer_page({**os.environ})"


@pytest.mark.parametrize("typed", [b"\n", b"no\n", b"\x04"])
def test_only_a_yes_opens_the_page(home: Home, typed: bytes) -> None:
    with Terminal(home, "-c", OFFER, program=sys.executable) as demo:
        assert until(lambda: "[y/N]" in demo.text)
        os.write(demo.master, typed)
        assert demo.process.wait(60) == 0
    assert "tarmac web" not in demo.text


def test_the_page_is_served_with_running_jobs_until_enter(home: Home) -> None:
    with Terminal(home, "-c", OFFER, program=sys.executable) as demo:
        assert until(lambda: "[y/N]" in demo.text)
        os.write(demo.master, b"y\n")
        assert until(lambda: "Press Enter" in demo.text, 60)
        found = re.search(r"(http://127\.0\.0\.1:\d+)/login#\S+", demo.text)
        assert found
        with urllib.request.urlopen(found[1], timeout=20) as page:
            assert b"<title>Tarmac</title>" in page.read()
        states = [job.state for job in home.client().jobs()]
        assert "held" in states
        assert len(states) == 23
        os.write(demo.master, b"\n")
        assert demo.process.wait(60) == 0
