"""Debian's Chromium, with a tab that is logged in."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from bench.home import Home

CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1440, "height": 900}
WITHIN_MS = 60_000


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def new_tab(browser: Browser, place: Home) -> tuple[Page, str]:
    """A tab of a new profile, whose cache is empty but for what the log-in needs; and the address of the page."""
    link: str = place.client.page_link()["url"]
    context = browser.new_context(viewport=SIZE, locale="en-US")
    context.set_default_timeout(WITHIN_MS)
    page = context.new_page()
    page.goto(link)
    page.wait_for_selector(".shell")
    return page, link.partition("/login")[0]
