"""New and changed jobs on the page: what is typed is checked, kept and submitted."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from tests.home import Home, until
from tests.page.browser import Window

MARKUP = "<img src=x onerror=alert(1)>"


def new(window: Window, address: str = "/new") -> Page:
    page = window.show("/")
    page.evaluate("sessionStorage.clear()")
    window.show(address)
    expect(page.get_by_role("region", name="What will happen")).to_be_visible()
    return page


def outcome(page: Page, text: str) -> None:
    expect(page.get_by_role("region", name="What will happen")).to_contain_text(text)


def job_on(page: Page) -> int:
    page.wait_for_url(re.compile(r"/jobs/\d+$"))
    return int(page.url.rpartition("/")[2])


def test_a_job_is_submitted_and_seen_to_run(window: Window, swept_home: Home, tmp_path: Path) -> None:
    window.show("/queue")
    window.page.keyboard.press("n")
    window.page.wait_for_url("**/new")
    page = new(window)
    page.get_by_label("Working directory").fill(str(tmp_path))
    page.get_by_label("Command", exact=True).fill("pwd\nsleep 600")
    page.get_by_label("Name", exact=True).fill("from the page")
    page.get_by_label("Tags", exact=True).fill("a, b")
    outcome(page, f"tarmac add --no-env --name 'from the page' --tag a --tag b --cwd {tmp_path}")
    outcome(page, "It would start at once.")
    page.get_by_role("button", name="Submit", exact=True).click()
    number = job_on(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("running")
    expect(page.locator(".xterm-rows")).to_contain_text(str(tmp_path))
    job = swept_home.client().job(number)
    assert (job.tags, job.name) == (["a", "b"], "from the page")
    window.show("/new")
    expect(page.get_by_label("Command", exact=True)).to_have_value("")


def test_a_mistake_is_shown_at_its_field_while_typing(window: Window, swept_home: Home) -> None:
    page = new(window)
    expect(page.locator(".mistakes p")).to_have_count(0)
    page.get_by_label("Command", exact=True).fill("true")
    page.get_by_label("Time limit", exact=True).fill("90")
    field = page.locator(".form-field").filter(has=page.get_by_label("Time limit", exact=True))
    expect(field.get_by_role("alert")).to_contain_text("90: ")
    expect(page.get_by_label("Time limit", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Time limit", exact=True).fill("90m")
    expect(field.locator(".mistakes p")).to_have_count(0)
    page.get_by_label("GPUs", exact=True).fill("900")
    outcome(page, "One field needs a correction.")
    gpus = page.locator(".form-field").filter(has=page.get_by_label("GPUs", exact=True))
    expect(gpus.get_by_role("alert")).to_contain_text("requested 900 GPUs")
    assert not list(swept_home.client().jobs())


def test_the_page_says_when_a_job_would_start_and_why_it_would_wait(window: Window, swept_home: Home) -> None:
    running = swept_home.add("--gpus", "2", "--time", "1h", "sleep", "600")
    page = new(window)
    page.get_by_label("Command", exact=True).fill("true")
    outcome(page, "It would start about")
    outcome(page, f"job {running}")
    page.locator("summary", has_text="More options").click()
    page.get_by_label("Hold --hold").check()
    outcome(page, "--hold")
    outcome(page, "It would wait")


def test_the_text_survives_a_reload_and_a_killed_controller(window: Window, swept_home: Home) -> None:
    page = new(window)
    page.get_by_label("Command", exact=True).fill("python train.py\n  --lr 1e-3")
    page.get_by_label("Name", exact=True).fill("kept")
    page.reload()
    expect(page.get_by_label("Command", exact=True)).to_have_value("python train.py\n  --lr 1e-3")
    os.kill(swept_home.pid_of("controller"), signal.SIGKILL)
    page.get_by_label("GPUs", exact=True).fill("0")
    assert swept_home.tarmac("status").returncode == 0
    outcome(page, "--gpus 0 --name kept")
    page.get_by_role("button", name="Submit", exact=True).click()
    assert swept_home.client().job(job_on(page)).name == "kept"


def test_a_form_that_was_changed_after_lost_answers_makes_another_job(window: Window, swept_home: Home) -> None:
    page = new(window)
    sent: list[Route] = []

    def lose(route: Route) -> None:
        if "dry_run" in (route.request.post_data or ""):
            route.continue_()
            return
        sent.append(route)
        route.fetch()  # the server accepts the job, the page never hears of it
        route.abort()

    page.clock.install()
    page.route("**/api/v1/jobs/form", lose)
    page.get_by_label("Command", exact=True).fill("sleep 601")
    page.get_by_role("button", name="Submit", exact=True).click()
    for count in range(1, 7):  # it repeats the request five times
        assert until(lambda count=count: page.wait_for_timeout(20) or len(sent) == count)
        page.clock.run_for(10_000)
    page.unroute("**/api/v1/jobs/form")
    page.clock.resume()
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_enabled()
    page.get_by_label("Command", exact=True).fill("sleep 602")
    page.get_by_role("button", name="Submit", exact=True).click()
    assert swept_home.client().job(job_on(page)).command == ["sleep", "602"]
    assert [job.command[1] for job in swept_home.client().jobs()] == ["601", "602"]


def test_a_draft_does_not_revert_what_was_changed_elsewhere(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", "sleep", "600")
    number = swept_home.add("--gpus", "2", "--time", "1h", "sleep", "600")
    page = new(window, f"/jobs/{number}/edit")
    page.get_by_label("Name", exact=True).fill("mine")
    outcome(page, f"tarmac edit {number} --name mine")
    assert swept_home.tarmac("edit", str(number), "--time", "5h").returncode == 0
    page.reload()
    expect(page.get_by_label("Name", exact=True)).to_have_value("mine")
    expect(page.get_by_label("Time limit", exact=True)).to_have_value("5h")
    page.get_by_role("button", name="Save changes").click()
    job = swept_home.client().job(job_on(page))
    assert (job.name, job.time_limit_s) == ("mine", 5 * 3600)


def test_a_text_that_the_browser_cannot_keep_is_named(window: Window, swept_home: Home) -> None:
    page = new(window, "/new?kind=batch")
    page.get_by_label("Jobs, one per line").fill(f"echo {'x' * 6_000_000}")  # a tab keeps 5 million characters
    expect(page.get_by_text("This text is too long for the browser to keep.")).to_be_visible()
    page.get_by_label("Jobs, one per line").fill("true")
    expect(page.get_by_text("This text is too long for the browser to keep.")).to_have_count(0)


def test_a_waiting_job_is_edited_and_only_what_changed_is_sent(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", "sleep", "600")
    number = swept_home.add("--gpus", "2", "--time", "1h", "--tag", "x", "sleep", "600")
    page = window.show(f"/jobs/{number}")
    page.get_by_role("link", name="Edit", exact=True).click()
    page.wait_for_url(f"**/jobs/{number}/edit")
    expect(page.get_by_label("Time limit", exact=True)).to_have_value("1h")
    expect(page.get_by_role("button", name="Save changes")).to_be_disabled()
    page.get_by_label("Time limit", exact=True).fill("2h")
    page.get_by_label("Tags", exact=True).fill("")
    outcome(page, f"tarmac edit {number} --tag none --time 2h")
    page.get_by_role("button", name="Save changes").click()
    assert job_on(page) == number
    job = swept_home.client().job(number)
    assert (job.time_limit_s, job.tags, job.command) == (7200, [], ["sleep", "600"])


def test_an_edit_is_undone(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--hold", "--tag", "a", "--time", "1h", "sleep", "600")
    page = new(window, f"/jobs/{number}/edit")
    page.get_by_label("Command", exact=True).fill("sleep 601")
    page.get_by_label("Priority", exact=True).fill("7")
    page.get_by_label("Time limit", exact=True).fill("2h")
    page.get_by_label("Name", exact=True).fill("edited")
    page.get_by_label("Tags", exact=True).fill("")
    page.get_by_role("button", name="Save changes").click()
    assert job_on(page) == number
    before = swept_home.client().job(number)
    assert (before.name, before.priority, before.tags, before.command[-1]) == ("edited", 7, [], "601")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".command-box pre")).to_have_text("sleep 600")
    job = swept_home.client().job(number)
    assert (job.name, job.priority, job.tags, job.time_limit_s) == (None, 10, ["a"], 3600)


def test_old_mistakes_are_not_shown_without_a_connection(window: Window, swept_home: Home) -> None:
    page = new(window)
    page.get_by_label("Command", exact=True).fill("true")
    page.get_by_label("Time limit", exact=True).fill("90")
    expect(page.locator(".mistakes p")).to_have_count(1)
    page.route("**/api/v1/jobs/form", lambda route: route.abort())
    page.get_by_label("Time limit", exact=True).fill("90m")
    outcome(page, "Not checked: no connection.")
    expect(page.locator(".mistakes p")).to_have_count(0)
    page.unroute("**/api/v1/jobs/form")
    outcome(page, "--time 90m")
    expect(page.get_by_text("Not checked")).to_have_count(0)


def test_more_options_stay_open_when_the_last_one_is_emptied(window: Window) -> None:
    page = new(window)
    page.locator("summary", has_text="More options").click()
    note = page.locator("#field-note")
    note.fill("x")
    outcome(page, "--note x")
    note.fill("")
    expect(page.get_by_text("--note x")).to_have_count(0)
    expect(note).to_be_visible()


def test_a_job_that_started_meanwhile_is_not_changed(window: Window, swept_home: Home) -> None:
    first = swept_home.add("--gpus", "2", "sleep", "600")
    number = swept_home.add("--gpus", "2", "sleep", "600")
    page = new(window, f"/jobs/{number}/edit")
    page.get_by_label("Time limit", exact=True).fill("2h")
    outcome(page, "--time 2h")
    swept_home.tarmac("kill", str(first), "--grace", "0")
    assert until(lambda: swept_home.client().job(number).state == "running")
    page.get_by_role("button", name="Save changes").click()
    outcome(page, f"job {number} is not waiting: it is running")
    assert swept_home.client().job(number).time_limit_s is None


def test_a_job_runs_again_edited_and_is_linked_to_the_first(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "0", "--name", "first", "sh", "-c", "exit 3")
    swept_home.tarmac("wait", str(number))
    page = window.show(f"/jobs/{number}")
    page.get_by_role("link", name="Edit and run again").click()
    page.wait_for_url(f"**/new?from={number}")
    expect(page.get_by_label("Command", exact=True)).to_have_value("sh -c 'exit 3'")
    page.get_by_label("Command", exact=True).fill("sh -c 'exit 0'")
    outcome(page, f"tarmac clone {number} --command")
    page.get_by_role("button", name="Submit the copy").click()
    copy = job_on(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("succeeded")
    assert swept_home.client().job(copy).clone_of == number


def test_a_sweep_is_previewed_and_submitted(window: Window, swept_home: Home) -> None:
    page = new(window, "/new?kind=sweep")
    page.get_by_label("Command", exact=True).fill("sleep 60{s} {lr}")
    page.get_by_label("Name of parameter 1").fill("s")
    page.get_by_label("Values of parameter 1").fill("1..3")
    parameters = page.get_by_role("group", name="Parameters")
    expect(page.locator("#field-command-wrong")).to_contain_text("{lr} is not a parameter")
    page.get_by_label("Name of parameter 2").fill("lr")
    page.get_by_label("Values of parameter 2").fill("1e-3,3e-4")
    page.get_by_label("GPUs", exact=True).fill("0")
    preview = page.get_by_role("region", name="Jobs")
    expect(preview).to_contain_text("6 jobs")
    expect(preview.get_by_role("listitem").nth(1)).to_contain_text("sleep 601 3e-4")
    parameters.get_by_label("Only where").fill("s < 3")
    expect(preview.get_by_role("listitem")).to_have_count(4)
    page.get_by_role("button", name="Submit 4 jobs").click()
    page.wait_for_url("**/queue?**")
    assert len(list(swept_home.client().jobs(state="active"))) == 4


def test_a_batch_names_line_and_column_of_a_mistake(window: Window, swept_home: Home) -> None:
    page = new(window, "/new?kind=batch")
    text = page.get_by_label("Jobs, one per line")
    text.fill("command,gpus\nsleep 601,0\nsleep 602,x\n")
    wrong = page.get_by_role("button", name="line 3, column 11")
    wrong.click()
    assert text.evaluate("(box) => box.value.slice(box.selectionStart, box.selectionEnd)") == "x"
    text.fill("command,gpus\nsleep 601,0\nsleep 602,0\n")
    expect(page.get_by_role("region", name="Jobs")).to_contain_text("sleep 602")
    page.get_by_role("button", name="Submit 2 jobs").click()
    page.wait_for_url("**/queue?**")
    assert len(list(swept_home.client().jobs(state="active"))) == 2


def test_a_form_is_saved_as_a_template_and_filled_from_it(window: Window, swept_home: Home) -> None:
    page = new(window)
    page.get_by_label("Time limit", exact=True).fill("6h")
    page.get_by_role("button", name="Save as template").click()
    page.get_by_label("Name of the template").fill("long")
    page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="Template long is saved.")).to_be_visible()
    new(window)
    page.get_by_label("Template", exact=True).select_option("long")
    expect(page.get_by_label("Time limit", exact=True)).to_have_value("6h")
    swept_home.tarmac("template", "rm", "long")


def test_markup_in_every_field_stays_text(window: Window, swept_home: Home) -> None:
    page = new(window)
    page.get_by_label("Command", exact=True).fill(f"echo '{MARKUP}'")
    page.locator("summary", has_text="More options").click()
    for box in page.locator(".form-fields input[type=text], .form-fields .form-more textarea").all():
        box.fill(MARKUP)
    outcome(page, MARKUP)
    expect(page.locator(".mistakes p").first).to_be_visible()
    assert page.locator("main img").count() == 0
    new(window, "/new?kind=sweep")
    page.get_by_label("Command", exact=True).fill(f"echo '{MARKUP}' {{a}}")
    page.get_by_label("Name of parameter 1").fill("a")
    page.get_by_label("Values of parameter 1").fill(f'"{MARKUP}"')
    page.get_by_label("GPUs", exact=True).fill("0")
    expect(page.get_by_role("region", name="Jobs")).to_contain_text(MARKUP)
    new(window, "/new?kind=batch")
    page.get_by_label("Jobs, one per line").fill(f"'{MARKUP}")
    expect(page.get_by_role("button", name="line 1, column 1")).to_be_visible()
    assert page.locator("main img").count() == 0


def test_the_environment_of_the_form_is_named(window: Window) -> None:
    expect(new(window).locator(".form-note")).to_contain_text("PATH")
