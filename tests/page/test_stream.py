"""The page lives from the event stream: after the first lists it asks for nothing again."""

from playwright.sync_api import Request, Route, expect

from tests.home import Home, until
from tests.page.browser import Window
from tests.page.test_jobs import BAR, SLEEP, row


def asked_of(window: Window) -> list[str]:
    """The paths of the API that the page asks for from now on."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/api/v1/" in request.url:
            asked.append(request.url.partition("/api/v1")[2])

    window.page.on("request", note)
    return asked


def test_progress_and_groups_arrive_without_a_question(window: Window, swept_home: Home) -> None:
    page = window.show("/queue")
    expect(page.get_by_text("No jobs yet").or_(page.get_by_text("No job is running"))).to_be_visible()
    asked = asked_of(window)
    swept_home.add("--gpus", "1", "--name", "bar", "python3", "-c", BAR)
    bar = row(page, "bar").get_by_role("progressbar")
    expect(bar).to_be_visible()
    first = int(bar.get_attribute("aria-valuenow") or 0)
    assert until(lambda: int(bar.get_attribute("aria-valuenow") or 0) > first + 2)
    done = swept_home.tarmac("sweep", "--name", "grid", "--gpus", "2", "sleep {s}", "s=601..603")
    assert done.returncode == 0, done.stderr
    expect(row(page, "grid")).to_contain_text("0 / 3 ended")
    swept_home.tarmac("kill", "last")
    expect(row(page, "grid")).to_contain_text("1 / 3 ended")
    assert asked == []


def test_the_siblings_of_a_moved_job_have_new_places(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", *SLEEP)
    ids = [swept_home.add("--gpus", "2", "--name", name, *SLEEP) for name in ("one", "two", "three")]
    page = window.show("/queue")
    expect(page.locator(".rows .row").nth(3)).to_contain_text("three")
    asked = asked_of(window)
    assert swept_home.tarmac("move", str(ids[2]), "1").returncode == 0
    expect(page.locator(".rows .row").nth(1)).to_contain_text("three")
    expect(page.locator(".rows .row").nth(2)).to_contain_text("one")
    swept_home.tarmac("kill", str(ids[0]))
    expect(row(page, "one")).to_have_count(0)
    assert until(lambda: page.evaluate(POSITION, ids[1]) == 2)
    assert asked == []


POSITION = """async (id) => (await import('/page/data/store.js')).jobs.get(id).position"""


def test_a_removed_job_disappears(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "0", "--name", "short", "true")
    page = window.show("/queue?state=all")
    expect(row(page, "short")).to_contain_text("succeeded")
    asked = asked_of(window)
    assert swept_home.tarmac("rm", str(number)).returncode == 0
    expect(row(page, "short")).to_have_count(0)
    assert asked == []


def test_a_drained_gpu_and_a_notice_are_shown_at_once(window: Window, swept_home: Home) -> None:
    page = window.show("/")
    expect(page.get_by_role("article").first).to_be_visible()
    assert swept_home.tarmac("gpu", "drain", "0", "--reason", "fan is loud").returncode == 0
    expect(page.get_by_role("article").first).to_contain_text("fan is loud")
    assert swept_home.tarmac("gpu", "resume", "0").returncode == 0
    expect(page.get_by_role("article").first).not_to_contain_text("fan is loud")


LISTEN = """() => {
  window.heard = "";
  new BroadcastChannel("tarmac-events").onmessage = ({ data }) => (window.heard += JSON.stringify(data));
}"""


def test_a_job_that_is_submitted_while_the_lists_are_read_stays(window: Window, swept_home: Home) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = window.show("/settings")
    page.route("**/api/v1/groups?*", hold)
    with page.expect_response("**/api/v1/jobs/recent?*"):
        page.goto(f"{window.address}/queue")
    page.evaluate(LISTEN)
    assert until(lambda: page.wait_for_timeout(20) or bool(held))
    swept_home.add("--gpus", "1", "--name", "in between", *SLEEP)
    page.wait_for_function("window.heard.includes('in between')")
    with page.expect_response("**/api/v1/history?*"):  # asked for once the first lists have arrived
        held[0].continue_()
    page.unroute("**/api/v1/groups?*")
    expect(row(page, "in between")).to_be_visible()
