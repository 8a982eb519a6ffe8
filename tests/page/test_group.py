"""The page of a group: states, parameters, metrics that jobs printed, a plot, and actions on the whole group."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.home import Home, until
from tests.page.browser import Window
from tests.page.test_looks import findings

TRAIN = """
import json, os, sys
lr, opt = float(sys.argv[1]), sys.argv[2]
if opt == "bad":
    raise SystemExit(3)
print(f"acc={lr * 0.5}")
print(f"acc={lr} val_loss={1 - lr}")
json.dump({"top": {"k": lr * 2}}, open("m.json", "w"))
"""


def a_sweep(home: Home, folder: Path, *, opts: str = "adam,sgd,bad") -> int:
    (folder / "train.py").write_text(TRAIN)
    line = ("sweep", "--gpus", "0", "--name", "scan", "--json", "python3 train.py {lr} {opt}", "lr=0.25,0.5,0.75")
    done = home.tarmac(*line, f"opt={opts}", cwd=folder)
    assert done.returncode == 0, done.stderr
    first = int(re.findall(r"\d+", done.stdout)[0])
    home.client().wait("all", timeout_s=60)
    return first


def column(page: Page, title: str) -> list[str]:
    """The cells of a column of the table, from top to bottom."""
    heads = [head.inner_text().strip() for head in page.get_by_role("columnheader").all()]
    rows = page.locator(".results-table .rows .result-row").all()
    rows.sort(key=lambda row: int(row.get_attribute("aria-rowindex") or 0))
    return [row.get_by_role("gridcell").nth(heads.index(title)).inner_text().strip() for row in rows]


def test_metrics_that_jobs_printed_are_compared_and_drawn(window: Window, swept_home: Home, tmp_path: Path) -> None:
    group = a_sweep(swept_home, tmp_path)
    page = window.show(f"/groups/{group}")
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"sweep {group}")
    expect(page.locator(".state-counts")).to_contain_text("succeeded 6")
    expect(page.locator(".state-counts")).to_contain_text("failed 3")
    assert page.locator(".state-grid path").evaluate_all("all => all.map((one) => one.dataset.state).sort()") == [
        "failed",
        "succeeded",
    ]
    assert column(page, "opt")[:3] == ["adam", "sgd", "bad"]
    expect(page.get_by_text("Compare what the jobs printed or wrote")).to_be_visible()
    page.get_by_label("Metric: a pattern for the log").fill(r"acc=([\d.]+)")
    page.get_by_role("button", name="Read").click()
    expect(page.get_by_role("columnheader", name="acc")).to_have_attribute("aria-sort", "descending")
    assert column(page, "acc") == ["0.75", "0.75", "0.5", "0.5", "0.25", "0.25", "", "", ""]
    expect(page.locator(".plot .point[transform]")).to_have_count(6)
    expect(page.locator(".legend li")).to_have_text(["opt=adam", "opt=sgd"])
    page.reload()
    expect(page.get_by_label("Metric: a pattern for the log")).to_have_value(r"acc=([\d.]+)")
    page.get_by_role("columnheader", name="lr").get_by_role("button").click()
    expect(page.get_by_role("columnheader", name="lr")).to_have_attribute("aria-sort", "ascending")
    assert column(page, "lr")[0] == "0.25"
    page.get_by_role("combobox", name="over").select_option("rank")
    expect(page.get_by_role("img", name="acc over rank: 6 jobs")).to_be_visible()


def test_several_metrics_and_the_csv_of_the_command_line(window: Window, swept_home: Home, tmp_path: Path) -> None:
    group = a_sweep(swept_home, tmp_path, opts="adam")
    page = window.show(f"/groups/{group}")
    page.get_by_label("Metric: a pattern for the log").fill(r"val_loss=(\S+)")
    page.get_by_role("button", name="Add a metric").click()
    page.get_by_label("Metric 2").fill(r"acc=([\d.]+)")
    page.get_by_label("JSON file of each job").fill("m.json")
    page.get_by_label("Keys", exact=True).fill("top.k")
    page.get_by_role("button", name="Read").click()
    expect(page.get_by_role("columnheader", name="val_loss")).to_have_attribute("aria-sort", "ascending")
    assert [column(page, title)[0] for title in ("val_loss", "acc")] == ["0.25", "0.75"]
    command = page.locator(".take code").inner_text()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == f"tarmac-results-{group}.csv"
    flags = ("-m", r"val_loss=(\S+)", "-m", r"acc=([\d.]+)", "--json=m.json", "-m", "top.k")
    assert command.startswith(f"tarmac results {group} --metric 'val_loss=(")
    assert download.value.path().read_text() == swept_home.tarmac("results", str(group), *flags, "--csv").stdout


def test_a_wrong_pattern_is_refused_in_the_words_of_the_server(
    window: Window, swept_home: Home, tmp_path: Path
) -> None:
    group = a_sweep(swept_home, tmp_path, opts="adam")
    page = window.show(f"/groups/{group}?metric=acc%3D")
    expect(page.get_by_role("alert")).to_contain_text("does not say which part is the value")
    page = window.show(f"/groups/{group}?metric=nowhere%3D(x)")
    expect(page.get_by_text("No job has a value for nowhere.")).to_be_visible()
    page = window.show("/groups/999999")
    expect(page.get_by_text("999999")).to_be_visible()


def test_the_failed_jobs_of_a_group_are_retried_and_the_group_is_killed(
    window: Window, swept_home: Home, tmp_path: Path
) -> None:
    group = a_sweep(swept_home, tmp_path)
    page = window.show(f"/groups/{group}")
    page.get_by_role("button", name="Retry failed", exact=True).click()
    expect(page.get_by_role("status").filter(has_text=f"tarmac retry --failed --group {group}")).to_contain_text(
        "3 jobs are queued again."
    )
    expect(page.locator(".state-counts")).to_contain_text("failed 3")
    assert until(lambda: [job.attempt for job in swept_home.client().jobs(state="failed")] == [2, 2, 2])
    done = swept_home.tarmac("sweep", "--gpus", "2", "sleep {s}", "s=601..604", "--json")
    live = int(re.findall(r"\d+", done.stdout)[0])
    page = window.show("/queue")
    page.get_by_role("link", name=str(live), exact=True).click()
    page.wait_for_url(f"**/groups/{live}")
    expect(page.locator(".state-counts")).to_contain_text("running 1")
    page.get_by_role("button", name="Hold all", exact=True).click()
    expect(page.locator(".state-counts")).to_contain_text("held 3")
    page.get_by_role("button", name="Release all", exact=True).click()
    expect(page.locator(".state-counts")).to_contain_text("queued 3")
    page.get_by_role("button", name="Kill all", exact=True).click()
    question = page.get_by_role("dialog", name=f"Kill the jobs of group {live}?")
    expect(question).to_contain_text("3 waiting jobs are cancelled.")
    expect(question).to_contain_text(f"tarmac kill --group {live}")
    question.get_by_role("button", name="Kill all", exact=True).click()
    expect(page.locator(".state-counts")).to_contain_text("cancelled 4")


def test_ten_thousand_jobs_are_a_grid_and_a_table(window: Window, swept_home: Home) -> None:
    done = swept_home.tarmac("add", "--gpus", "0", "--hold", "--array", "0-9999", "--json", "true")
    assert done.returncode == 0, done.stderr
    group = swept_home.client().groups()[0]["id"]
    page = window.show(f"/groups/{group}")
    expect(page.locator(".state-counts")).to_contain_text("held 10,000")
    assert page.locator(".state-grid path").count() == 1
    assert page.locator("main *").count() < 1500
    page.get_by_role("columnheader", name="index").get_by_role("button").click()
    page.get_by_role("columnheader", name="index").get_by_role("button").click()
    assert until(lambda: column(page, "index")[0] == "9999")
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#grid-job")).to_contain_text(f"#{group + 1}")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/jobs/{group + 1}")


def test_everyone_can_read_it_also_on_a_phone(window: Window, phone: Page, swept_home: Home, tmp_path: Path) -> None:
    group = a_sweep(swept_home, tmp_path)
    address = f"{window.address}/groups/{group}?metric=acc%3D(%5CS%2B)"
    for page in (window.page, phone):
        page.goto(address)
        page.wait_for_selector(".plot .point")
        page.emulate_media(color_scheme="light")
        assert findings(page) == []
        page.emulate_media(color_scheme="dark")
        assert findings(page, ["color-contrast"]) == []
    assert phone.evaluate("document.querySelector('main').scrollWidth <= innerWidth")
