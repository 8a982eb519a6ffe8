"""The page in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.home import Home

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",  # for root
    "--no-first-run",
    "--disable-gpu",
    "--disable-extensions",
    # It asks nobody but the page.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WITHIN_MS = 60_000
expect.set_options(timeout=WITHIN_MS)

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@dataclass
class Window:
    """A logged-in page, and what it complained about."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def show(self, path: str) -> Page:
        self.page.goto(self.address + path)
        self.page.wait_for_selector("main")
        return self.page


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def login_link(home: Home) -> str:
    done = home.tarmac("web", "--json", "--no-open")
    assert done.returncode == 0, done.stderr
    url: str = json.loads(done.stdout)["url"]
    return url


def open_window(browser: Browser, home: Home, *, locale: str = "en-US", size: dict[str, int] | None = None) -> Window:
    """A new browser profile with one tab, logged in by a link."""
    context = browser.new_context(locale=locale, viewport=size or DESKTOP)
    context.set_default_timeout(WITHIN_MS)
    link = login_link(home)
    window = Window(context.new_page(), link.partition("/login")[0])
    window.page.on("pageerror", lambda error: window.complaints.append(str(error)))
    window.page.on("dialog", lambda dialog: (window.complaints.append(dialog.message), dialog.dismiss()))
    window.page.goto(link)
    window.page.wait_for_selector(".shell")
    return window
