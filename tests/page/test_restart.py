"""The page outlives its controller."""

import json
import os
import signal
import time

from playwright.sync_api import Locator, Page, Route, expect

from tests.home import Home, until
from tests.page.browser import Window


def test_a_page_goes_on_after_kill_9_of_the_controller(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "1", "--name", "before", "sleep", "600")
    page = window.show("/queue")
    page.evaluate("window.isSamePage = true")
    expect(page.get_by_role("row").filter(has_text="before")).to_be_visible()
    page.get_by_label("Filter by text").fill("be")
    page.get_by_role("row").filter(has_text="before").get_by_role("checkbox").check()

    os.kill(swept_home.pid_of("controller"), signal.SIGKILL)
    expect(page.get_by_role("alert")).to_contain_text("No connection to Tarmac since")
    page.get_by_label("Filter by text").press("End")
    page.keyboard.type("fo")
    swept_home.add("--gpus", "1", "--name", "before and after", "sleep", "600")  # starts the controller

    expect(page.get_by_role("row").filter(has_text="before and after")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_label("Filter by text")).to_have_value("befo")
    expect(page.get_by_label("Filter by text")).to_be_focused()
    expect(page.get_by_role("toolbar", name="Actions on the selection")).to_contain_text("1 selected")
    assert page.evaluate("window.isSamePage")


def test_a_view_that_is_opened_while_the_controller_is_away_appears_once_it_is_back(
    window: Window, swept_home: Home
) -> None:
    number = swept_home.add("--gpus", "0", "--name", "ended before", "true")
    swept_home.tarmac("wait", str(number))
    views = {
        "/history": page_row(window.page, "ended before"),
        f"/new?from={number}": window.page.get_by_label("Name", exact=True),
    }
    page = window.show("/")
    page.evaluate("window.isSamePage = true")
    for address, content in views.items():
        go(page, address)  # once before, so that its modules are there
        expect(content).to_be_visible()
        go(page, "/")
        expect(content).to_have_count(0)
        os.kill(swept_home.pid_of("controller"), signal.SIGKILL)
        expect(page.get_by_role("alert")).to_contain_text("No connection to Tarmac since")
        go(page, address)
        assert swept_home.tarmac("status").returncode == 0  # starts it again
        expect(content).to_be_visible()
    assert page.evaluate("window.isSamePage")


def go(page: Page, address: str) -> None:
    """Follow a link, without a reload."""
    page.evaluate("async (to) => (await import('/page/router/router.js')).go(to)", address)


def page_row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def test_a_group_is_read_again_once_the_controller_is_back(window: Window, swept_home: Home) -> None:
    done = swept_home.tarmac("sweep", "--name", "grid", "--gpus", "2", "sleep {s}", "s=601..603", "--json")
    assert done.returncode == 0, done.stderr
    group = json.loads(swept_home.tarmac("ls", "--json").stdout)[0]["group"]
    page = window.show(f"/groups/{group}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("grid")
    os.kill(swept_home.pid_of("controller"), signal.SIGKILL)
    expect(page.get_by_role("alert")).to_contain_text("No connection to Tarmac since")
    with page.expect_response(f"**/api/v1/groups/{group}") as read:
        assert swept_home.tarmac("status").returncode == 0  # starts it again
    assert read.value.ok


def test_a_page_goes_on_after_the_network_was_gone(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "1", "--name", "before", "sleep", "600")
    page = window.show("/queue")
    page.evaluate("window.isSamePage = true")
    expect(page.get_by_role("row").filter(has_text="before")).to_be_visible()
    cut(page, is_offline=True)
    try:
        expect(page.get_by_role("alert")).to_contain_text("No connection to Tarmac since")
        swept_home.add("--gpus", "1", "--name", "meanwhile", "sleep", "600")
        swept_home.tarmac("kill", "--name", "before", "--grace", "0")
    finally:
        cut(page, is_offline=False)
    expect(page.get_by_role("row").filter(has_text="meanwhile")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="before")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert page.evaluate("window.isSamePage")


def cut(page: Page, *, is_offline: bool) -> None:
    """Also the connections that are open, as when a laptop leaves its network."""
    page.context.set_offline(is_offline)
    if is_offline:
        page.evaluate("window.dispatchEvent(new Event('pagehide')); window.dispatchEvent(new Event('pageshow'))")


def test_a_hidden_page_asks_for_nothing_and_catches_up_when_it_is_shown(window: Window, swept_home: Home) -> None:
    page = window.show("/queue")
    page.evaluate("window.isSamePage = true")
    expect(page.get_by_role("status").filter(has_text="0 jobs")).to_be_visible()
    ended: list[str] = []
    asked: list[str] = []
    page.on("requestfailed", lambda request: ended.append(request.url))
    show_as(page, "hidden")
    assert until(lambda: page.wait_for_timeout(20) or any("/v1/events" in url for url in ended)), "the stream is closed"
    page.on("request", lambda request: asked.append(request.url))
    number = swept_home.add("--gpus", "1", "--name", "while hidden", "sleep", "600")
    assert until(lambda: swept_home.client().job(number).state == "running")
    page.evaluate("() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")
    assert asked == []
    expect(page.get_by_role("row").filter(has_text="while hidden")).to_have_count(0)
    show_as(page, "visible")
    expect(page.get_by_role("row").filter(has_text="while hidden")).to_be_visible()
    assert page.evaluate("window.isSamePage")


def show_as(page: Page, state: str) -> None:
    """Headless browsers never hide a tab."""
    page.evaluate(
        "(state) => { Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        state,
    )


def test_open_pages_do_not_delay_the_end_of_the_controller(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "1", "--name", "outlives it", "sh", "-c", "while echo line; do sleep 0.1; done")
    page = window.show(f"/jobs/{number}")
    expect(page.locator(".xterm-rows")).to_contain_text("line")
    controller = swept_home.pid_of("controller")
    began = time.monotonic()
    assert swept_home.tarmac("stop").returncode == 0
    assert until(lambda: not os.path.exists(f"/proc/{controller}"))
    assert time.monotonic() - began < 8
    expect(page.get_by_role("alert")).to_contain_text("No connection to Tarmac since")
    assert swept_home.tarmac("status").returncode == 0  # starts it again
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_contain_text("running")


def test_tabs_share_one_event_stream(window: Window, swept_home: Home) -> None:
    first = window.show("/queue")
    streams: list[str] = []
    second = first.context.new_page()
    second.on("request", lambda request: streams.append(request.url) if "/v1/events" in request.url else None)
    second.goto(f"{window.address}/queue")
    swept_home.add("--gpus", "1", "--name", "for-both", "sleep", "600")
    for page in (first, second):
        expect(page.get_by_role("row").filter(has_text="for-both")).to_be_visible()
    assert streams == []
    first.goto("about:blank")  # the second one takes over
    swept_home.add("--gpus", "1", "--name", "for-one", "sleep", "600")
    expect(second.get_by_role("row").filter(has_text="for-one")).to_be_visible()
    assert len(streams) == 1
    second.close()


def test_a_page_whose_files_could_not_be_read_is_loaded_again(window: Window) -> None:
    """As browsers do with requests that are under way when an interface comes or goes."""
    broken = []

    def fail_once(route: Route) -> None:
        if broken:
            route.continue_()
        else:
            broken.append(route.request.url)
            route.abort("internetdisconnected")

    window.page.route("**/page/words/format.js", fail_once)
    page = window.show("/queue")
    expect(page.get_by_role("navigation", name="Views")).to_be_visible()
    assert broken
    assert page.evaluate("sessionStorage.getItem('tarmac.loads')") is None
    page.unroute("**/page/words/format.js")
