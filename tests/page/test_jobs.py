"""What a user does with jobs on the page."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.home import Home, until
from tests.page.browser import Window

BAR = """
import sys, time
for i in range(1, 1001):
    sys.stderr.write(f"\\r{i // 10:3d}%|####      | {i}/1000 [00:{i // 20:02d}<00:09, 20it/s]")
    sys.stderr.flush()
    time.sleep(0.02)
"""
SLEEP = ("sleep", "600")


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def test_a_job_that_the_command_line_submits_appears_and_is_seen_to_end(window: Window, swept_home: Home) -> None:
    page = window.show("/queue")
    swept_home.add("--gpus", "1", "--name", "seen", *SLEEP)
    expect(row(page, "seen")).to_contain_text("running")
    swept_home.tarmac("kill", "last", "--grace", "0")
    expect(row(page, "seen")).to_have_count(0)
    page.get_by_label("State", exact=True).select_option("ended")
    expect(row(page, "seen")).to_contain_text("cancelled")
    page.go_back()
    expect(page.get_by_label("State", exact=True)).to_have_value("active")


def test_the_tile_of_a_gpu_names_the_job_on_it(window: Window, swept_home: Home) -> None:
    page = window.show("/")
    number = swept_home.add("--gpus", "1", "--name", "on-a-gpu", *SLEEP)
    tile = page.get_by_role("article").filter(has_text="on-a-gpu")
    expect(tile).to_contain_text(f"#{number}")
    tile.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("on-a-gpu")


def test_a_progress_bar_and_the_log_are_followed(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "1", "--name", "bar", "python3", "-c", BAR)
    page = window.show(f"/jobs/{number}")
    bar = page.locator(".headline").get_by_role("progressbar")
    expect(bar).to_be_visible()
    first = int(bar.get_attribute("aria-valuenow") or 0)
    assert until(lambda: int(bar.get_attribute("aria-valuenow") or 0) > first)
    log = page.get_by_role("region", name="Log").locator(".xterm-rows")
    expect(log).to_contain_text(re.compile(r"\d+%\|####"))
    shown = log.inner_text()
    assert until(lambda: log.inner_text() != shown)
    assert len(re.findall("####", log.inner_text())) == 1, "a bar is drawn over itself"


def test_killing_a_running_job_asks_and_says_what_is_lost(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "1", *SLEEP)
    page = window.show(f"/jobs/{number}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("running")
    page.get_by_role("button", name="Kill", exact=True).click()
    question = page.get_by_role("dialog", name=f"Kill job {number}?")
    expect(question).to_contain_text("has run")
    expect(question).to_contain_text(f"tarmac kill {number}")
    question.get_by_role("button", name="Cancel").click()
    assert swept_home.client().job(number).state == "running"
    page.get_by_role("button", name="Kill", exact=True).click()
    question.get_by_role("button", name="Kill", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("cancelled")
    page.get_by_role("button", name="Retry", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("running")


def test_a_hold_can_be_undone(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", *SLEEP)
    number = swept_home.add("--gpus", "2", *SLEEP)
    page = window.show(f"/jobs/{number}")
    page.get_by_role("button", name="Hold", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("held")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("queued")


def test_a_waiting_job_says_why_on_focus_and_keys_select_and_open(window: Window, swept_home: Home) -> None:
    first = swept_home.add("--gpus", "2", *SLEEP)
    second = swept_home.add("--gpus", "2", *SLEEP)
    page = window.show("/queue")
    expect(row(page, "queued")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.get_by_role("tooltip")).to_contain_text(f"held by job {first}")
    page.keyboard.press("x")
    expect(page.get_by_role("toolbar", name="Actions on the selection")).to_contain_text("1 selected")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/jobs/{second}")
    page.go_back()
    expect(page.get_by_role("toolbar", name="Actions on the selection")).to_contain_text("1 selected")
    page.keyboard.press("Escape")


def test_a_sweep_is_one_row_and_is_killed_as_a_whole(window: Window, swept_home: Home) -> None:
    done = swept_home.tarmac("sweep", "--name", "grid", "--gpus", "1", "sleep {s}", "s=601..606")
    assert done.returncode == 0, done.stderr
    page = window.show("/queue")
    expect(row(page, "grid")).to_have_count(1)
    row(page, "grid").get_by_role("button", name="sweep").click()
    expect(row(page, "s=606")).to_be_visible()
    page.get_by_role("checkbox", name="Select all").check()
    page.get_by_role("button", name="Kill", exact=True).click()
    question = page.get_by_role("dialog", name="Kill 6 jobs?")
    expect(question).to_contain_text("2 jobs have run")
    expect(question).to_contain_text("4 waiting jobs are cancelled")
    question.get_by_role("button", name="Kill", exact=True).click()
    expect(page.get_by_text("No job is running or waiting.")).to_be_visible()


def test_waiting_jobs_are_reordered_by_keys_and_by_a_position(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", *SLEEP)
    first, second, third = (swept_home.add("--gpus", "2", "--name", name, *SLEEP) for name in ("one", "two", "three"))
    page = window.show("/queue")
    row(page, "three").focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.get_by_role("status").filter(has_text=f"tarmac move {third} 2")).to_be_visible()
    expect(page.locator(".rows .row").nth(2)).to_contain_text("three")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".rows .row").nth(3)).to_contain_text("three")
    window.show(f"/jobs/{second}")
    page.get_by_label("new", exact=True).fill("abc")
    expect(page.locator(".position").get_by_role("alert")).to_contain_text("whole number")
    page.get_by_label("new", exact=True).fill("1")
    page.get_by_role("button", name="Move", exact=True).click()
    assert until(lambda: [swept_home.client().job(number).position for number in (first, second)] == [2, 1])


def test_failures_explain_themselves(window: Window, swept_home: Home) -> None:
    code = "print('x\\n' * 200); raise ValueError('loss is nan')"
    number = swept_home.add("--gpus", "0", "python3", "-c", code)
    page = window.show(f"/jobs/{number}")
    expect(page.locator(".headline")).to_contain_text("Failed after")
    expect(page.locator(".headline")).to_contain_text("ValueError: loss is nan")
    page.get_by_role("button", name="Jump to the error").click()
    expect(page.get_by_role("region", name="Log").locator(".xterm-rows")).to_contain_text("loss is nan")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert "loss is nan" in download.value.path().read_text()
