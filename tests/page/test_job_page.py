"""The page of one job: everything that the command line can do to it, its code, and what others may not do."""

import json
import re
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect

from tests.home import Home, until
from tests.page.browser import Window, open_window
from tests.page.test_jobs import SLEEP


def more(page: Page, name: str) -> None:
    page.locator(".job-buttons summary", has_text="More").click()
    page.get_by_role("button", name=name, exact=True).click()


def test_pause_resume_and_kill_with_a_grace_period(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "1", "bash", "-c", "trap '' TERM; while true; do sleep 0.1; done")
    page = window.show(f"/jobs/{number}")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("running")
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(heading).to_contain_text("paused")
    page.get_by_role("button", name="Resume", exact=True).click()
    expect(heading).to_contain_text("running")
    more(page, "Kill with another grace period")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Seconds before it is killed").fill("x")
    expect(dialog.get_by_role("button", name="Kill", exact=True)).to_be_disabled()
    dialog.get_by_label("Seconds before it is killed").fill("0")
    expect(dialog).to_contain_text(f"tarmac kill {number} --grace 0s")
    dialog.get_by_role("button", name="Kill", exact=True).click()
    expect(heading).to_contain_text("cancelled")


def test_release_start_now_run_again_and_remove(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", "--name", "busy", *SLEEP)
    number = swept_home.add("--gpus", "1", "--hold", "sleep", "1")
    page = window.show(f"/jobs/{number}")
    heading = page.get_by_role("heading", level=1)
    page.get_by_role("button", name="Release", exact=True).click()
    expect(heading).to_contain_text("queued")
    more(page, "Start now")
    question = page.get_by_role("dialog")
    expect(question).to_contain_text(f"tarmac start {number} --yes")
    question.get_by_role("button", name="Start now").click()
    expect(heading).to_contain_text("succeeded")
    page.get_by_role("button", name="Run again as a new job").click()
    page.wait_for_url(f"**/jobs/{number + 1}")
    assert swept_home.client().job(number + 1).rerun_of == number
    page.goto(f"{window.address}/jobs/{number}")
    more(page, "Remove")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    page.wait_for_url("**/queue")
    assert until(lambda: swept_home.tarmac("show", str(number)).returncode != 0)


def test_name_tags_and_note_are_changed_and_changed_back(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "1", "--name", "old", "--tag", "a", *SLEEP)
    page = window.show(f"/jobs/{number}")
    more(page, "Name, tags, note")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("new name")
    dialog.get_by_label("Tags").fill("b")
    dialog.get_by_label("Note").fill("diverges")
    expected = (
        f"tarmac rename {number} 'new name' && tarmac tag {number} +b --remove a && tarmac note {number} diverges"
    )
    expect(dialog).to_contain_text(expected)
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("new name")
    expect(page.locator(".facts")).to_contain_text("diverges")
    job = swept_home.client().job(number)
    assert (job.name, job.tags, job.note) == ("new name", ["b"], "diverges")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("old")
    assert until(lambda: swept_home.client().job(number).tags == ["a"])


def test_only_changed_labels_are_sent(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "1", "--name", "old", *SLEEP)
    page = window.show(f"/jobs/{number}")
    more(page, "Name, tags, note")
    assert swept_home.tarmac("note", str(number), "from elsewhere").returncode == 0
    expect(page.locator(".facts")).to_contain_text("from elsewhere")
    page.get_by_role("dialog").get_by_label("Name").fill("new name")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("new name")
    assert swept_home.client().job(number).note == "from elsewhere"


def test_the_code_of_two_jobs_is_compared(window: Window, swept_home: Home, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("rate = 1\nprint(rate)\n")
    first, second = 0, 0
    long_line = f"# {'long ' * 100}\n"
    for text in ("rate = 1\nprint(rate)\n", f"rate = 2\nprint(rate)\n{long_line}"):
        script.write_text(text)
        done = swept_home.tarmac("add", "--snapshot", "--gpus", "0", "python3", "train.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        first, second = second, int(done.stdout)
    page = window.show(f"/jobs/{second}")
    code = page.get_by_role("region", name="Code")
    code.get_by_label("Compare with job").fill(str(first))
    code.get_by_role("button", name="Compare").click()
    expect(code.locator("[data-kind=removed]")).to_have_text(re.compile("-rate = 1"))
    expect(code.locator("[data-kind=added]").first).to_have_text(re.compile(r"\+rate = 2"))
    page.reload()
    expect(code.locator("[data-kind=added]").first).to_be_visible()
    assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.job-facts'))")
    page.locator(".job-buttons summary", has_text="More").click()
    expect(page.get_by_role("button", name=f"tarmac checkout {second}")).to_be_visible()


def test_a_job_of_another_user_is_not_offered_for_change(browser: Browser, swept_home: Home) -> None:
    """In personal mode nobody else is admitted, so the page is told that its reader is somebody else."""
    swept_home.add("--gpus", "2", *SLEEP)
    number = swept_home.add("--gpus", "2", "--name", "theirs", *SLEEP)
    window = open_window(browser, swept_home)
    page = window.page

    def as_eve(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=json.dumps({**answer.json(), "user": "eve", "is_admin": False}))

    page.route("**/session", as_eve)
    page.goto(f"{window.address}/jobs/{number}")
    for name in ("Hold", "Kill"):
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_disabled()
        assert "Only root or an admin" in (button.get_attribute("title") or "")
    assert page.get_by_label("new", exact=True).count() == 0
    page.locator(".job-buttons summary", has_text="More").click()
    for name in ("Name, tags, note", "Remove"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Start now", exact=True)).to_have_count(0)
    page.goto(f"{window.address}/queue")
    row = page.get_by_role("row").filter(has_text="theirs")
    expect(row).to_be_visible()
    assert row.get_attribute("draggable") is None
    row.get_by_role("checkbox").check()
    expect(
        page.get_by_role("toolbar", name="Actions on the selection").get_by_role("button", name="Kill")
    ).to_be_disabled()
    page.context.close()


def test_the_host_memory_of_an_attempt_has_a_chart(window: Window, swept_home: Home) -> None:
    code = "data = bytearray(200 << 20); data[::4096] = b'x' * len(data[::4096]); import time; time.sleep(600)"
    number = swept_home.add("--gpus", "0", "python3", "-c", code)
    client = swept_home.client()

    def samples() -> list[int]:
        return [one["bytes"] for one in client.call("GET", f"/jobs/{number}/memory")["samples"]]

    assert until(lambda: len(samples()) >= 2, within_s=60)
    assert 200 << 20 <= samples()[-1] < 400 << 20
    page = window.show(f"/jobs/{number}")
    expect(page.get_by_role("img", name=re.compile("Host memory, GB"))).to_be_visible()
    expect(page.locator(".chart canvas")).to_be_visible()
    expect(page.locator(".chart canvas")).to_be_in_viewport()


def test_line_breaks_are_lines_on_the_page_and_escapes_in_a_command(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "0", "--name", "two\nlines", "bash", "-c", "echo a\nsleep 600")
    page = window.show(f"/jobs/{number}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("two↵lines")
    expect(page.locator(".command-box pre")).to_have_text("bash -c 'echo a\nsleep 600'", use_inner_text=True)
    expect(page.locator(".command-box button")).to_have_attribute(
        "title", re.compile(r"bash -c \$'echo a\\nsleep 600'")
    )
    more(page, "Name, tags, note")
    page.get_by_role("dialog").get_by_label("Note").fill("it's one\ntwo")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator(".toast code")).to_have_text(f"tarmac note {number} $'it\\'s one\\ntwo'")
    expect(page.locator(".facts .lines")).to_have_text("it's one\ntwo", use_inner_text=True)
    timeline = page.get_by_role("region", name="Timeline")
    expect(timeline).to_contain_text("name, tags or note changed")
    expect(timeline).not_to_contain_text("GPUs")


def test_a_refused_label_keeps_the_dialog_with_what_was_typed(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "0", "--tag", "a", *SLEEP)
    page = window.show(f"/jobs/{number}")
    more(page, "Name, tags, note")
    dialog = page.get_by_role("dialog")
    tags, note = (dialog.get_by_role("textbox", name=name) for name in ("Tags", "Note"))
    tags.fill("a, " + "x" * 5000)
    note.fill("long thought")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(note).to_have_value("long thought")
    tags.fill("a, two words")
    expect(dialog).to_contain_text(f"tarmac tag {number} '+two words'")
    tags.fill("a, b,,b")
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator(".facts")).to_contain_text("long thought")
    assert swept_home.client().job(number).tags == ["a", "b"]


def test_a_log_says_that_it_is_empty_and_is_not_reordered(window: Window, swept_home: Home) -> None:
    quiet = swept_home.add("--gpus", "0", *SLEEP)
    page = window.show(f"/jobs/{quiet}")
    log = page.get_by_role("region", name="Log")
    expect(log).to_contain_text("No output yet.")
    hidden = swept_home.add("--gpus", "0", "python3", "-c", "print('a\\u202egnp.exe')")
    window.show(f"/jobs/{hidden}")
    expect(log.locator(".xterm-rows")).to_contain_text("a⟨U+202E⟩gnp.exe")
    expect(log.get_by_text("No output yet.")).to_have_count(0)
