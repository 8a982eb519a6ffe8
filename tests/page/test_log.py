"""The log of a job in its terminal: colours, search, and following until the reader scrolls up."""

from playwright.sync_api import expect

from tests.home import Home
from tests.page.browser import Window

LINES = "for n in range(400): print(n, 'line')"


def test_colours_are_kept(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "0", "printf", "\\033[31mred words\\033[0m and plain ones\\n")
    log = window.show(f"/jobs/{number}").get_by_role("region", name="Log")
    expect(log.locator(".xterm-rows")).to_contain_text("red words and plain ones")
    expect(log.locator(".xterm-rows .xterm-fg-1")).to_have_text("red words")


def test_every_match_is_found(window: Window, swept_home: Home) -> None:
    code = f"{LINES}\nprint('a needle')\n{LINES}\nprint('another needle')"
    number = swept_home.add("--gpus", "0", "python3", "-c", code)
    swept_home.tarmac("wait", str(number))
    page = window.show(f"/jobs/{number}")
    log = page.get_by_role("region", name="Log")
    expect(log.locator(".xterm-rows")).to_contain_text("another needle")
    search = log.get_by_role("searchbox")
    search.fill("needle")
    search.press("Enter")
    expect(log.get_by_role("status")).to_have_text("1/2")
    expect(log.locator(".xterm-rows")).to_contain_text("a needle")
    search.press("Enter")
    expect(log.get_by_role("status")).to_have_text("2/2")
    expect(log.locator(".xterm-rows")).to_contain_text("another needle")
    search.fill("nothing of the kind")
    search.press("Enter")
    expect(log.get_by_role("status")).to_have_text("0")


def test_a_log_is_followed_until_the_reader_scrolls_up(window: Window, swept_home: Home) -> None:
    code = f"import sys\n{LINES}\nsys.stdout.flush()\nfor line in sys.stdin: pass\nimport time\ntime.sleep(600)"
    number = swept_home.add("--gpus", "0", "python3", "-c", code)
    page = window.show(f"/jobs/{number}")
    log = page.get_by_role("region", name="Log")
    expect(log.locator(".xterm-rows")).to_contain_text("399 line")
    follow = log.get_by_role("button", name="Follow")
    expect(follow).to_have_attribute("aria-pressed", "true")
    log.locator(".log-screen").hover()
    page.mouse.wheel(0, -2000)
    expect(follow).to_have_attribute("aria-pressed", "false")
    expect(log.locator(".xterm-rows")).not_to_contain_text("399 line")
    follow.click()
    expect(follow).to_have_attribute("aria-pressed", "true")
    expect(log.locator(".xterm-rows")).to_contain_text("399 line")
