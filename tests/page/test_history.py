"""The history on the page: search, filters, reading on, CSV, and actions on selected ended jobs."""

from playwright.sync_api import Locator, Page, expect

from tests.home import Home, until
from tests.page.browser import Window


def rows(page: Page, text: str = "") -> Locator:
    return page.locator(".rows .ended-row").filter(has_text=text)


def ended(home: Home, *flags: str, command: tuple[str, ...] = ("true",)) -> int:
    number = home.add("--gpus", "0", *flags, *command)
    home.client().wait(number, timeout_s=60)
    return number


def test_filters_find_jobs_and_are_in_the_address(window: Window, swept_home: Home) -> None:
    first = ended(swept_home, "--name", "alpha", "--project", "vision", "--tag", "keep")
    ended(swept_home, "--name", "beta", command=("false",))
    page = window.show("/history")
    expect(rows(page)).to_have_count(2)
    for label, value in (("Project", "vision"), ("Tag", "keep"), ("Node", swept_home.client().job(first).node or "")):
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Enter")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("alpha")
    page.reload()
    expect(rows(page)).to_have_count(1)
    page.get_by_label("Node", exact=True).fill("elsewhere")
    page.get_by_label("Node", exact=True).press("Enter")
    expect(page.get_by_text("No ended job matches.")).to_be_visible()
    page.get_by_role("link", name="Clear the filters").click()
    expect(rows(page)).to_have_count(2)
    page.get_by_label("Search name").fill("alph")
    expect(rows(page)).to_have_count(1)
    rows(page).click(position={"x": 300, "y": 5})
    page.wait_for_url(f"**/jobs/{first}")


def test_selected_failed_jobs_are_retried(window: Window, swept_home: Home) -> None:
    numbers = [ended(swept_home, "--name", f"bad-{n}", command=("false",)) for n in range(3)]
    page = window.show("/history?state=failed")
    expect(rows(page)).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("x")
    rows(page, "bad-1").get_by_role("checkbox").check()
    toolbar = page.get_by_role("toolbar", name="Actions on the selection")
    expect(toolbar).to_contain_text("2 selected")
    ids = f"{numbers[1]}-{numbers[2]}"
    expect(toolbar.get_by_role("button", name=f"Copy as `tarmac retry {ids}`")).to_be_visible()
    toolbar.get_by_role("button", name="Retry", exact=True).click()
    expect(page.get_by_role("status").filter(has_text=f"tarmac retry {ids}")).to_contain_text(
        "2 jobs are queued again."
    )
    assert until(lambda: [swept_home.client().job(number).attempt for number in numbers] == [1, 2, 2])
    expect(toolbar).to_have_count(0)


def test_selected_jobs_are_run_again_as_new_ones_and_removed(window: Window, swept_home: Home) -> None:
    number = ended(swept_home, "--name", "once")
    page = window.show("/history")
    rows(page, "once").get_by_role("checkbox").check()
    page.get_by_role("button", name="Run again", exact=True).click()
    expect(page.get_by_role("status").filter(has_text=f"tarmac rerun {number}")).to_contain_text("Queued as job")
    copy = max(job.id for job in swept_home.client().jobs())
    assert copy > number
    swept_home.client().wait(copy, timeout_s=60)
    page = window.show("/history")
    expect(rows(page)).to_have_count(2)
    page.get_by_role("checkbox", name="Select all").check()
    page.get_by_role("button", name="Remove", exact=True).click()
    question = page.get_by_role("dialog", name="Remove 2 jobs?")
    expect(question).to_contain_text("logs are deleted")
    question.get_by_role("button", name="Cancel").click()
    assert len(list(swept_home.client().jobs())) == 2
    page.get_by_role("button", name="Remove", exact=True).click()
    question.get_by_role("button", name="Remove", exact=True).click()
    expect(page.get_by_text("No job has ended yet.")).to_be_visible()
    assert list(swept_home.client().jobs()) == []


def test_csv_is_what_the_command_line_prints(window: Window, swept_home: Home) -> None:
    ended(swept_home, "--name", "=sheet", "--project", "csv")
    ended(swept_home, "--name", "other")
    page = window.show("/history?project=csv")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "tarmac-history.csv"
    printed = swept_home.tarmac("history", "--all", "--project", "csv", "--csv").stdout
    assert (download.value.path().read_text(), len(printed.splitlines())) == (printed, 2)


def test_it_reads_on_and_few_rows_exist(window: Window, swept_home: Home) -> None:
    done = swept_home.tarmac("add", "--gpus", "0", "--hold", "--array", "0-1499", "--name", "many", "true")
    assert done.returncode == 0, done.stderr
    swept_home.client().kill("all")
    page = window.show("/history")
    expect(page.get_by_role("status").filter(has_text="100 jobs, and older ones")).to_be_visible()

    def reaches_the_end() -> bool:
        page.locator(".ended").evaluate("(list) => list.scrollTo(0, list.scrollHeight)")
        assert rows(page).count() < 80
        return page.get_by_role("status").filter(has_text="1,500 jobs").count() == 1

    assert until(reaches_the_end)
    rows(page).last.get_by_role("link", name="group").click()
    page.wait_for_url("**/groups/*")
    page.go_back()
    assert until(lambda: page.locator(".ended").evaluate("(list) => list.scrollTop") >= 0)


def test_jobs_that_end_are_shown_at_the_top_and_announced_further_down(window: Window, swept_home: Home) -> None:
    done = swept_home.tarmac("add", "--gpus", "0", "--hold", "--array", "0-399", "--name", "many", "true")
    assert done.returncode == 0, done.stderr
    swept_home.client().kill("all")
    page = window.show("/history")
    expect(rows(page).first).to_contain_text("many")
    swept_home.add("--gpus", "0", "--name", "good", "true")
    expect(rows(page).first).to_contain_text("good")
    page.locator(".ended").evaluate("(list) => list.scrollTo(0, 2000)")
    expect(rows(page).filter(has_text="good")).to_have_count(0)
    swept_home.add("--gpus", "0", "--name", "bad", "false")
    expect(page.get_by_text("More jobs have ended.")).to_be_visible()
    assert page.locator(".ended").evaluate("(list) => list.scrollTop") == 2000
    page.get_by_role("button", name="Show them").click()
    expect(rows(page).first).to_contain_text("bad")
    expect(page.get_by_text("More jobs have ended.")).to_have_count(0)
