"""Reports on the page: the figures of `tarmac report`, by owner, project, GPU, day and hour."""

import json
import sqlite3
import time
from datetime import datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.home import Home
from tests.page.browser import Window
from tests.page.test_looks import findings

HOUR_S = 3600.0
OWNERS = {"ann": 40.0, "bob": 12.5, "<b>eve</b>": 0.25}


def days_ago(days: int) -> str:
    """By the clock of this machine, which is that of the controller."""
    return (datetime.now().astimezone() - timedelta(days=days)).date().isoformat()


@pytest.fixture(scope="module")
def spent(shared_home: Home) -> Home:
    """GPU time of the last days, as if jobs had ended then, and of the last hours."""
    shared_home.add("--gpus", "0", "true")
    node = shared_home.client().gpus()[0].node
    yesterday = days_ago(1)
    long_ago = days_ago(60)
    row = "INSERT INTO accounts VALUES (?, ?, ?, ?, ?, 'g0', ?, 0, ?, ?, 7200000, 1000, ?)"
    with sqlite3.connect(shared_home.path / "tarmac.db", timeout=20) as database:
        for owner, hours in OWNERS.items():
            held = hours * HOUR_S
            database.execute(row, (yesterday, "job", owner, "vision", node, held, held, held / 2, 3))
        database.execute(row, (yesterday, "foreign", "root", "", node, 7200.0, 7200.0, 3600.0, 0))
        database.execute(row, (long_ago, "job", "old", "", node, 36000.0, 36000.0, 18000.0, 1))
        hour = int(time.time()) // 3600 * 3600 - 86400
        database.execute("INSERT INTO node_hours VALUES (?, ?, 7200, 3600, 7200, 1800)", (hour, node))
    database.close()
    return shared_home


def report(home: Home, *flags: str) -> Any:
    done = home.tarmac("report", "--json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def table(page: Page) -> dict[str, list[str]]:
    """The cells of each row, by its name."""
    page.wait_for_selector(".bars tbody tr")
    rows = [row.inner_text().split("\t") for row in page.locator(".bars tbody tr").all()]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


def test_figures_are_those_of_the_command_line(window: Window, spent: Home) -> None:
    page = window.show("/reports")
    shown, printed = table(page), report(spent)
    for row in printed["rows"]:
        if row["name"] in OWNERS:
            assert shown[row["name"]][:3] == [
                str(row["jobs"]),
                f"{row['held_s'] / HOUR_S:.1f}",
                f"{row['used_s'] / HOUR_S:.1f}",
            ]
            assert shown[row["name"]][3] == f"{row['utilization']:.0f} %"
    assert "old" not in shown
    assert shown["foreign processes"][1:3] == ["2.0", "1.0"]
    total = page.get_by_label("Totals from").inner_text().split("\n")
    assert total[total.index("held") + 1] == f"{printed['total']['held_s'] / HOUR_S:.1f} h"


def test_period_and_grouping_are_in_the_address_and_in_the_command(window: Window, spent: Home) -> None:
    page = window.show("/reports")
    page.get_by_role("button", name="90 days").click()
    expect(page.get_by_role("rowheader", name="old")).to_be_visible()
    page.get_by_label("Group by").select_option("project")
    expect(page.get_by_role("rowheader", name="vision")).to_be_visible()
    assert page.url.endswith("/reports?days=90&by=project")
    expect(page.locator("code", has_text="tarmac report --by project --since 90d")).to_be_visible()
    page.reload()
    assert table(page)["(no project)"][1] == "10.0"
    page.get_by_role("link", name="(no project)").click()
    expect(page.get_by_role("button", name="Only (no project)")).to_be_visible()
    expect(page.locator("code", has_text="tarmac report --by day --since 90d --project ''")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("rowheader", name="vision")).to_be_visible()
    first = days_ago(61)
    last = days_ago(59)
    window.show(f"/reports?from={first}&to={last}")
    assert list(table(page)) == ["old"]
    expect(page.locator("code", has_text=f"tarmac report --since {first} --until {last}")).to_be_visible()


def test_csv_is_what_the_command_line_prints(window: Window, spent: Home) -> None:
    page = window.show("/reports?days=90&by=day")
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename.startswith("tarmac-report-by-day-")
    printed = spent.tarmac("report", "--by", "day", "--since", "90d", "--csv").stdout
    assert download.value.path().read_text() == printed


def test_the_map_says_how_busy_each_hour_was(window: Window, spent: Home) -> None:
    page = window.show("/reports?days=7")
    heat = page.get_by_role("application", name="Share of GPU time by hour and day")
    expect(page.locator("#heat-cell")).to_contain_text("GPU-hours were not held by jobs")
    assert page.locator(".map path").evaluate_all("all => all.some((one) => one.getAttribute('d'))")
    heat.focus()
    page.keyboard.press("ArrowRight")
    for _ in range(24):
        if "25 % utilization, 50 % held" in page.locator("#heat-cell").inner_text():
            break
        page.keyboard.press("ArrowDown")
    else:
        page.keyboard.press("ArrowLeft")
        for _ in range(24):
            if "25 % utilization, 50 % held" in page.locator("#heat-cell").inner_text():
                break
            page.keyboard.press("ArrowUp")
    expect(page.locator("#heat-cell")).to_contain_text("25 % utilization, 50 % held by jobs")
    page.get_by_label("Show", exact=True).select_option("held")
    page.wait_for_url("**/reports?days=7&map=held")


def test_an_empty_report_teaches(window: Window, spent: Home) -> None:
    page = window.show("/reports?from=2020-01-01&to=2020-01-31")
    expect(page.get_by_text("No GPU time was used from 2020-01-01 to 2020-01-31.")).to_be_visible()
    expect(page.locator("main code", has_text="tarmac add --gpus 1 python train.py")).to_be_visible()
    expect(page.get_by_text("Nothing is recorded for these days.")).to_be_visible()
    page = window.show("/reports?from=2020-02-01&to=2020-01-31")
    expect(page.get_by_text("the report would begin after its end")).to_be_visible()


def test_g_r_leads_to_reports_and_everyone_can_read_them(window: Window, spent: Home) -> None:
    page = window.show("/queue")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/reports")
    page.wait_for_selector(".bars tbody tr")
    assert page.locator(".bars b").count() == 0
    page.emulate_media(color_scheme="light")
    assert findings(page) == []
    page.emulate_media(color_scheme="dark")
    assert findings(page, ["color-contrast"]) == []


def test_it_fits_a_phone(phone: Page, window: Window, spent: Home) -> None:
    phone.goto(f"{window.address}/reports")
    phone.wait_for_selector(".bars tbody tr")
    assert phone.evaluate("document.querySelector('main').scrollWidth <= innerWidth")
    assert findings(phone) == []
