"""What admins do on the page, and that other users are shown none of it."""

import json
import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.home import Home, until
from tests.page.browser import Window, open_window
from tests.page.test_looks import findings

MARKUP = "<img src=x onerror=alert(1)><b>bold</b>"


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name)


def field(within: Locator, name: str) -> Locator:
    return within.get_by_role("textbox", name=name)


def said(page: Page, text: str) -> Locator:
    return page.locator(".toast").filter(has_text=text)


def value_of(home: Home, name: str) -> str:
    value: str = json.loads(home.tarmac("set", name, "--json").stdout)["value"]
    return value


def test_a_choice_is_changed_at_once_and_undone(window: Window, swept_home: Home) -> None:
    page = window.show("/admin?tab=settings")
    page.get_by_label("policy", exact=True).select_option("fifo")
    expect(said(page, "tarmac set policy fifo")).to_be_visible()
    assert value_of(swept_home, "policy") == "fifo"
    said(page, "tarmac set policy fifo").get_by_role("button", name="Undo").click()
    expect(page.get_by_label("policy", exact=True)).to_have_value("balance")
    assert value_of(swept_home, "policy") == "balance"


def test_a_wrong_value_is_kept_with_the_sentence_of_the_server(window: Window, swept_home: Home) -> None:
    page = window.show("/admin?tab=settings&group=gpus")
    field = page.get_by_label("max_load", exact=True)
    field.fill("20")
    field.press("Enter")
    alert = page.get_by_role("alert").filter(has_text="max_load")
    expect(alert).to_contain_text("is not a fraction from 0 to 1")
    refused = swept_home.tarmac("set", "max_load", "20").stderr
    assert alert.inner_text().splitlines()[0] in refused
    page.reload()
    expect(field).to_have_value("20")
    field.fill("20%")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(said(page, "max_load is 0.2")).to_be_visible()
    assert value_of(swept_home, "max_load") == "0.2"
    page.get_by_role("button", name="Reset max_load").click()
    expect(field).to_have_value("0.1")


def test_a_value_per_user_is_a_small_table(window: Window, swept_home: Home) -> None:
    page = window.show("/admin?tab=settings&text=max_gpus_per_user")
    limits = page.get_by_role("table", name="max_gpus_per_user")
    limits.get_by_label("Everyone").fill("4")
    page.get_by_role("button", name="Add an exception max_gpus_per_user").click()
    limits.get_by_label("User", exact=True).fill("ann")
    limits.get_by_label("Number for ann").fill("8")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(said(page, "max_gpus_per_user is 4, ann=8")).to_be_visible()
    assert value_of(swept_home, "max_gpus_per_user") == "4, ann=8"
    limits.get_by_role("button", name="Remove ann").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(said(page, "max_gpus_per_user is 4.")).to_be_visible()
    swept_home.tarmac("set", "max_gpus_per_user", "--reset")


def test_every_setting_is_there_in_its_group(window: Window, swept_home: Home) -> None:
    page = window.show("/admin?tab=settings")
    names = [one["name"] for one in json.loads(swept_home.tarmac("set", "--json").stdout)]
    expect(page.locator(".setting")).to_have_count(len(names))
    assert sorted(page.locator(".setting label code").all_inner_texts()) == sorted(names)
    assert [text for text in page.locator(".settings h2").all_inner_texts() if "setting.group" in text] == []


def test_a_gpu_is_drained_from_its_tile_and_used_again(window: Window, swept_home: Home) -> None:
    page = window.show("/")
    page.get_by_role("button", name="Manage GPU 1").click()
    dialog = page.get_by_role("dialog", name="GPU 1")
    field(dialog, "Reason").fill(MARKUP)
    dialog.get_by_role("button", name="Drain", exact=True).click()
    expect(page.get_by_role("article", name="GPU 1")).to_contain_text(f"drained: {MARKUP}")
    assert MARKUP in swept_home.tarmac("gpus").stdout
    page.get_by_role("button", name="Manage GPU 1").click()
    dialog.get_by_role("button", name="Resume", exact=True).click()
    expect(page.get_by_role("article", name="GPU 1")).to_contain_text("free")
    assert page.locator("main img, main b:has-text('bold')").count() == 0


def test_gpus_are_drained_shared_and_processes_ignored(window: Window, swept_home: Home) -> None:
    page = window.show("/admin?tab=gpus")
    row = page.get_by_role("listitem", name="GPU 0")
    row.get_by_label("Reason to drain GPU 0").fill("new fan")
    row.get_by_role("button", name="Drain", exact=True).click()
    expect(said(page, "tarmac gpu drain 0 --reason 'new fan'")).to_be_visible()
    expect(row).to_contain_text("drained: new fan")
    row.get_by_role("button", name="Resume", exact=True).click()
    expect(row).not_to_contain_text("new fan")
    field(row, "Slots").fill("0")
    row.get_by_role("button", name="Save").click()
    expect(page.locator(".toast[data-bad=true]")).to_be_visible()
    field(row, "Slots").fill("2")
    field(row, "Slots").press("Enter")
    assert until(lambda: swept_home.client().gpus()[0].slots == 2)
    swept_home.tarmac("gpu", "slots", "0", "1")
    ignored = part(page, "Ignored processes")
    field(ignored, "Program").fill(MARKUP)
    ignored.get_by_role("button", name="Ignore", exact=True).click()
    added = ignored.get_by_role("listitem").filter(has_text=MARKUP)
    expect(added).to_be_visible()
    added.get_by_role("button", name="Count again").click()
    expect(added).to_have_count(0)


def test_the_queue_is_paused_with_a_reason_and_resumed(window: Window, swept_home: Home) -> None:
    page = window.show("/admin")
    queue = part(page, "Queue")
    field(queue, "Reason").fill(MARKUP)
    queue.get_by_role("button", name="Pause", exact=True).click()
    expect(queue).to_contain_text("Paused: no job starts.")
    expect(queue).to_contain_text(MARKUP)
    assert MARKUP in swept_home.tarmac("queue").stdout
    queue.get_by_role("button", name="Resume", exact=True).click()
    expect(queue).to_contain_text("The queue accepts and starts jobs.")
    assert not swept_home.client().queue()["paused"]


def test_the_undo_of_a_pause_is_offered_only_if_it_ends_nothing_else(window: Window, swept_home: Home) -> None:
    page = window.show("/admin")
    queue = part(page, "Queue")
    queue.get_by_role("button", name="Pause", exact=True).click()
    said(page, "tarmac queue pause").get_by_role("button", name="Undo").click()
    expect(queue).to_contain_text("The queue accepts and starts jobs.")
    assert swept_home.tarmac("queue", "drain").returncode == 0
    expect(queue).to_contain_text("Draining: no new jobs are accepted.")
    page.reload()  # without the messages of before
    queue.get_by_role("button", name="Pause", exact=True).click()
    expect(said(page, "tarmac queue pause")).to_be_visible()
    expect(said(page, "tarmac queue pause").get_by_role("button", name="Undo")).to_have_count(0)
    queue.get_by_role("button", name="Resume", exact=True).click()
    expect(queue).to_contain_text("The queue accepts and starts jobs.")


def test_a_stop_says_what_is_lost_and_requeues(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "1", "sleep", "600")
    page = window.show("/admin")
    expect(part(page, "Queue")).to_contain_text("1 running")
    part(page, "Queue").get_by_role("button", name="Stop and requeue").click()
    question = page.get_by_role("dialog", name="Stop all running jobs?")
    expect(question).to_contain_text("1 job has run")
    question.get_by_role("button", name="Stop and requeue").click()
    assert until(lambda: swept_home.client().job(number).state == "queued")
    part(page, "Queue").get_by_role("button", name="Resume", exact=True).click()
    assert until(lambda: swept_home.client().job(number).state == "running")


def test_the_notice_is_set_and_cleared(window: Window, swept_home: Home) -> None:
    page = window.show("/admin")
    notice = part(page, "Notice")
    field(notice, "Text").fill(MARKUP)
    page.reload()
    notice.get_by_role("button", name="Show the notice").click()
    expect(page.locator(".notices")).to_contain_text(MARKUP)
    assert MARKUP in swept_home.tarmac("notice").stdout
    notice.get_by_role("button", name="Clear", exact=True).click()
    expect(page.locator(".notices")).not_to_contain_text(MARKUP)
    assert swept_home.client().notice() is None


def test_a_reservation_is_made_shown_and_ended(window: Window, swept_home: Home) -> None:
    page = window.show("/reserve")
    form = part(page, "Reserve GPUs")
    field(form, "GPUs").fill("9")
    field(form, "For the jobs of").fill("nobody-of-that-name")
    form.get_by_role("button", name="Reserve", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("9 GPUs")
    field(form, "GPUs").fill("1")
    form.get_by_role("button", name="Reserve", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("no user nobody-of-that-name")
    expect(part(page, "Week").get_by_role("link", name=re.compile("nobody-of-that-name 1 GPU")).first).to_be_visible()
    made = json.loads(swept_home.tarmac("reserve", "--json").stdout)
    assert [one["owner"] for one in made] == ["nobody-of-that-name"]
    row = part(page, "Reservations").get_by_role("listitem")
    part(page, "Week").get_by_role("link", name=re.compile("nobody-of-that-name")).first.click()
    assert page.url.endswith(f"#reservation-{made[0]['id']}")
    row.get_by_role("button", name="End", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="End", exact=True).click()
    expect(part(page, "Reservations")).to_contain_text("No GPU is reserved")
    assert json.loads(swept_home.tarmac("reserve", "--json").stdout) == []


def test_the_command_of_a_reservation_does_the_same(window: Window, swept_home: Home) -> None:
    page = window.show("/reserve")
    form = part(page, "Reserve GPUs")
    form.get_by_label("From", exact=True).fill("2031-03-03T09:00")
    form.get_by_label("Until", exact=True).fill("2031-03-03T10:30")
    command = form.locator("code").inner_text()
    assert "--for 90m" in command
    assert swept_home.tarmac(*command.removeprefix("tarmac ").split()).returncode == 0
    (made,) = json.loads(swept_home.tarmac("reserve", "--json").stdout)
    window.show("/reserve?week=2031-03-03")
    expect(part(page, "Week").get_by_role("link", name=re.compile(f"#{made['id']} "))).to_be_visible()
    page.get_by_role("link", name="Next week").click()
    expect(part(page, "Week").get_by_role("link", name=re.compile(f"#{made['id']} "))).to_have_count(0)
    swept_home.tarmac("reserve", "end", str(made["id"]))


def test_the_log_is_shown_and_followed(window: Window, swept_home: Home) -> None:
    page = window.show("/admin?tab=log")
    log = part(page, "Log of the controller")
    expect(log).to_contain_text("listens on")
    with (swept_home.path / "controller.log").open("a") as file:
        file.write(f"2026-01-01 00:00:00,000 ERROR tarmac {MARKUP} HF_TOKEN=hf_verysecret\n")
    expect(log).to_contain_text(MARKUP)
    expect(log).to_contain_text("HF_TOKEN=***")
    assert log.locator("img, b").count() == 0
    page.get_by_label("Show only lines with").fill("bold")
    expect(log).not_to_contain_text("listens on")


@pytest.mark.parametrize("address", ["/admin", "/admin?tab=settings", "/", "/reserve"])
def test_other_users_are_shown_no_controls_of_admins(browser: Browser, swept_home: Home, address: str) -> None:
    """The queue of one user has no others, so the session is changed on its way. The API has tests of its own."""

    def without_rights(route: Route) -> None:
        session = route.fetch().json()
        route.fulfill(json={**session, "is_admin": False})

    window = open_window(browser, swept_home)
    window.page.route("**/session", without_rights)
    page = window.show(address)
    expect(page.get_by_role("navigation", name="Views")).to_contain_text("Settings")
    expect(page.get_by_role("link", name="Admin", exact=True)).to_have_count(0)
    if address.startswith("/admin"):
        expect(page.get_by_text("Only admins can see this.")).to_be_visible()
    elif address == "/":
        expect(page.get_by_role("article").first).to_be_visible()
    else:
        expect(part(page, "Week")).to_be_visible()
    assert page.locator("main").get_by_role("button", name=re.compile("Manage|Drain|Pause|Reserve|Save")).count() == 0
    page.context.close()


VIEWS = {
    "/settings": ".plain-rows",
    "/reserve": ".block",
    "/admin": ".deeds",
    "/admin?tab=gpus": ".gpu-row",
    "/admin?tab=settings": ".setting",
    "/admin?tab=log": ".own-log span",
}


@pytest.fixture
def filled_home(swept_home: Home) -> Iterator[Home]:
    """Something to see in every view."""
    client = swept_home.client()
    made = client.reserve(1, begins_at=time.time() + 60, for_s=7200, user="ann")
    client.drain(1, reason="a fan that is louder than it should be")
    client.set("max_gpus_per_user", "4, ann=8")
    yield swept_home
    client.end_reservation(made["id"])
    client.resume(1)
    client.reset("max_gpus_per_user")


def test_axe_finds_nothing(window: Window, filled_home: Home) -> None:
    found = {}
    for address, part in VIEWS.items():
        window.page.emulate_media(color_scheme="light")
        page = window.show(address)
        page.wait_for_selector(part, state="attached")
        found[address] = findings(page)
        page.emulate_media(color_scheme="dark")
        found[f"{address} in the dark"] = findings(page, ["color-contrast"])
    window.page.emulate_media(color_scheme="light")
    page = window.show("/")
    page.get_by_role("button", name="Manage GPU 0").click()
    page.get_by_role("dialog").wait_for()
    found["the dialog of a GPU"] = findings(page)
    page.keyboard.press("Escape")
    assert {name: some for name, some in found.items() if some} == {}


def test_no_view_is_wider_than_a_phone(phone: Page, filled_home: Home) -> None:
    origin = phone.url.partition("/")[0] + "//" + phone.url.split("/")[2]
    for address, part in {**VIEWS, "/": ".tile"}.items():
        phone.goto(origin + address)
        phone.wait_for_selector(part, state="attached")
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        assert phone.evaluate("document.querySelector('main').scrollWidth <= innerWidth"), address
        assert findings(phone) == [], address


def test_keys_lead_to_the_views(window: Window) -> None:
    page = window.show("/")
    for key, path in (("s", "/settings"), ("a", "/admin"), ("c", "/reserve")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**{path}")
