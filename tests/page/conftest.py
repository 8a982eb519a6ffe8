from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page

from tests.home import Home
from tests.page.browser import Window, chromium, open_window


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a whole file."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def shared_window(browser: Browser, shared_home: Home) -> Window:
    return open_window(browser, shared_home)


@pytest.fixture
def window(shared_window: Window, swept_home: Home) -> Iterator[Window]:
    """The window of the file. Each test leaves no jobs, and no error on the page."""
    yield shared_window
    assert shared_window.complaints == []


@pytest.fixture
def phone(browser: Browser, swept_home: Home) -> Iterator[Page]:
    """Another browser profile, in the size of a phone."""
    window = open_window(browser, swept_home, size={"width": 390, "height": 844})
    with closing(window.page.context):
        yield window.page
    assert window.complaints == []
