"""The list of the queue: order, columns, views and filters."""

from playwright.sync_api import Page, expect

from tests.home import Home, until
from tests.page.browser import Window
from tests.page.test_jobs import SLEEP, row


def positions(home: Home, *jobs: int) -> list[int | None]:
    return [home.client().job(number).position for number in jobs]


def drag(page: Page, text: str, target: str, part: float) -> None:
    """Drag a row to the height of another one: 0 is its upper edge, 1 its lower one."""
    box = row(page, target).bounding_box()
    assert box
    row(page, text).drag_to(row(page, target), target_position={"x": 200, "y": box["height"] * part})


def test_a_waiting_job_is_dragged_to_another_place_and_back(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", "--name", "busy", *SLEEP)
    ids = [swept_home.add("--gpus", "2", "--name", name, *SLEEP) for name in ("one", "two", "three")]
    page = window.show("/queue")
    expect(row(page, "three")).to_have_attribute("draggable", "true")
    expect(row(page, "busy")).not_to_have_attribute("draggable", "true")
    drag(page, "three", "one", 0.1)
    expect(page.get_by_role("status").filter(has_text=f"tarmac move {ids[2]} 1")).to_be_visible()
    assert until(lambda: positions(swept_home, *ids) == [2, 3, 1])
    expect(page.locator(".rows .row").nth(1)).to_contain_text("three")
    page.get_by_role("button", name="Undo").click()
    assert until(lambda: positions(swept_home, *ids) == [1, 2, 3])
    expect(page.locator(".rows .row").nth(3)).to_contain_text("three")
    drag(page, "one", "two", 0.9)
    assert until(lambda: positions(swept_home, *ids) == [2, 1, 3])


def test_a_refused_move_says_the_sentence_of_the_server(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", "--name", "busy", *SLEEP)
    ids = [swept_home.add("--gpus", "2", "--name", name, *SLEEP) for name in ("one", "two")]
    page = window.show("/queue")
    expect(row(page, "two")).to_have_attribute("draggable", "true")
    page.route("**/move", lambda route: (swept_home.tarmac("kill", str(ids[1])), route.continue_())[1])
    drag(page, "two", "one", 0.1)
    expect(page.locator(".toast[data-bad=true]")).to_contain_text(str(ids[1]))
    page.unroute("**/move")


def test_columns_are_chosen_ordered_and_kept(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "1", "--name", "shown", "--project", "vision", *SLEEP)
    page = window.show("/queue")
    heads = page.get_by_role("columnheader")
    page.locator("summary", has_text="Columns").click()
    page.locator(".columns-menu label", has_text="Project").get_by_role("checkbox").check()
    page.locator(".columns-menu label", has_text="Command").get_by_role("checkbox").uncheck()
    page.get_by_role("button", name="Move Project to the left").click()
    page.locator(".columns-menu label", has_text="Dense rows").get_by_role("checkbox").check()
    expected = ["State", "ID", "Name", "Owner", "GPUs", "Progress", "Project", "When"]
    expect(heads.filter(has_text="Project")).to_be_visible()
    assert [text.strip() for text in heads.all_inner_texts()][1:] == expected
    expect(row(page, "shown")).to_contain_text("vision")
    assert row(page, "shown").evaluate("(one) => one.offsetHeight") == 32
    page.goto(f"{window.address}/queue")  # without the address
    expect(heads.filter(has_text="Project")).to_be_visible()
    assert [text.strip() for text in heads.all_inner_texts()][1:] == expected
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("button", name="Usual columns").click()
    expect(heads.filter(has_text="Project")).to_have_count(0)
    page.locator(".columns-menu label", has_text="Dense rows").get_by_role("checkbox").uncheck()


def test_a_view_is_saved_under_a_name_and_survives_a_reload(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "1", "--name", "mine", "--tag", "slow", *SLEEP)
    swept_home.add("--gpus", "1", "--name", "other", *SLEEP)
    page = window.show("/queue")
    page.get_by_label("Tag", exact=True).select_option("slow")
    page.get_by_role("columnheader", name="Name").get_by_role("button").click()
    page.locator("summary", has_text="Views").click()
    page.get_by_label("Name of this view").fill("slow ones")
    page.get_by_role("button", name="Save", exact=True).click()
    window.show("/queue")
    expect(row(page, "other")).to_be_visible()
    page.locator("summary", has_text="Views").click()
    page.get_by_role("button", name="slow ones", exact=True).click()
    expect(row(page, "mine")).to_be_visible()
    expect(row(page, "other")).to_have_count(0)
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Remove the view slow ones").click()
    expect(page.get_by_role("button", name="slow ones", exact=True)).to_have_count(0)


def test_filters_select_by_state_owner_project_tag_node_and_text(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "1", "--name", "first", "--project", "vision", "--tag", "a", *SLEEP)
    swept_home.add("--gpus", "0", "--name", "second", "--project", "speech", "--tag", "b", *SLEEP)
    swept_home.add("--hold", "--gpus", "1", "--name", "third", *SLEEP)
    node = swept_home.client().gpus()[0].node
    page = window.show("/queue")
    rows = page.locator(".rows .row")
    expect(rows).to_have_count(3)
    for label, value, names in (
        ("Project", "vision", ["first"]),
        ("Tag", "b", ["second"]),
        ("Node", node, ["first", "second"]),
        ("State", "held", ["third"]),
        ("Owner", "root", ["first", "second", "third"]),
    ):
        page.get_by_label(label, exact=True).first.select_option(value)
        expect(rows).to_have_count(len(names))
        for name in names:
            expect(row(page, name)).to_be_visible()
        page.reload()
        expect(page.get_by_label(label, exact=True).first).to_have_value(value)
        expect(rows).to_have_count(len(names))
        window.show("/queue")
    page.get_by_label("Filter by text").fill("secon")
    expect(rows).to_have_count(1)


def test_every_column_sorts_both_ways(window: Window, swept_home: Home) -> None:
    first = swept_home.add("--gpus", "1", "--name", "b", *SLEEP)
    second = swept_home.add("--gpus", "0", "--name", "a", *SLEEP)
    columns = "state,id,name,owner,gpus,progress,when,command,position,priority,elapsed,submitted,node,project,tags"
    page = window.show(f"/queue?columns={columns},memory,attempt")
    expect(page.locator(".rows .row")).to_have_count(2)
    for head in page.get_by_role("columnheader").all()[1:]:
        box = head.bounding_box()
        assert box
        head.click(position={"x": box["width"] - 2, "y": box["height"] - 2})  # anywhere, not only on the word
        expect(head).to_have_attribute("aria-sort", "ascending")
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", "descending")
        head.get_by_role("button").click()
    page.goto(f"{window.address}/queue?sort=gpus")
    expect(page.locator(".rows .row").first).to_contain_text(str(second))
    page.goto(f"{window.address}/queue?sort=-gpus")
    expect(page.locator(".rows .row").first).to_contain_text(str(first))
