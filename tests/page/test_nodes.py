"""Nodes on the page: the list, the page of one node, and what admins do with them."""

import os
import re
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.home import Home, homes, until
from tests.page.browser import PHONE, Window, open_window
from tests.page.test_looks import findings

SECOND = "second"
AWAY = "gpu03"  # nothing listens on its port
MARKUP = "<img src=x onerror=alert(1)><b>bold</b>"


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """Two GPUs on the home node, two on the second; and a machine over SSH that cannot be reached."""
    folder = tmp_path_factory.mktemp("nodes")
    home = folder / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(
        f'[[nodes]]\nname = "{SECOND}"\nkind = "local"\nstate = "{folder / SECOND}"\n'
        'environment = { TARMAC_FAKE_GPUS = "2x48G" }\n'
    )
    for found in homes(home):
        assert until(lambda home=found: len(home.client().gpus()) == 4)
        yield found


@pytest.fixture
def home(two: Home) -> Iterator[Home]:
    """Without nodes over SSH, drains and jobs of the test before."""
    yield two
    client = two.client()
    client.kill("all", grace_s=0)
    client.wait("all", timeout_s=60)
    client.rm("all")
    for node in client.nodes():
        client.resume_node(node["name"])
        if node["host"] is not None:
            client.remove_node(node["name"])


@pytest.fixture(scope="module")
def shared(browser: Browser, two: Home) -> Window:
    return open_window(browser, two)


@pytest.fixture
def window(shared: Window, home: Home) -> Iterator[Window]:
    yield shared
    assert shared.complaints == []


def here(home: Home) -> str:
    return str(home.client().status()["node"])


def add_away(home: Home) -> None:
    added = home.tarmac("node", "add", "127.0.0.1", "--port", "9", "--name", AWAY, "--later")
    assert added.returncode == 0, added.stderr


def row(page: Page, node: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=node, exact=True))


def deed(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name="Actions").get_by_role("button", name=name, exact=True)


def test_every_node_is_a_row_that_follows_the_stream(window: Window, home: Home) -> None:
    page = window.show("/nodes")
    for name in (here(home), SECOND):
        expect(row(page, name)).to_contain_text("reachable")
        expect(row(page, name)).to_contain_text(re.compile(r"0/2\s*0\s*0"))
    jobs = [home.add("--node", SECOND, "sleep", "600") for _ in range(3)]
    expect(row(page, SECOND)).to_contain_text(re.compile(r"2/2\s*2\s*1"))
    jobs.append(home.add("--node", SECOND, "sleep", "600"))
    expect(row(page, SECOND)).to_contain_text(re.compile(r"2/2\s*2\s*2"))
    page.get_by_role("link", name=SECOND, exact=True).click()
    expect(page.get_by_role("heading", name=SECOND, exact=True)).to_be_visible()
    listed = page.get_by_role("grid")
    for job in jobs:
        expect(listed.get_by_role("link", name=str(job), exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="GPUs").get_by_role("article")).to_have_count(2)
    page = window.show(f"/nodes/{here(home)}")
    expect(page.get_by_text("No job runs here, and no waiting job may run here.")).to_be_visible()
    window.show(f"/queue?node={SECOND}")
    expect(page.locator(".rows .row")).to_have_count(2)
    page.get_by_label("Node", exact=True).select_option(here(home))
    expect(page.get_by_text("No job matches")).to_be_visible()


def test_a_node_whose_agent_falls_silent_is_shown_as_such_without_a_reload(window: Window, home: Home) -> None:
    agent = int((home.path.parent / SECOND / "agent" / "agent.lock").read_text())
    page = window.show("/nodes")
    expect(row(page, SECOND)).to_contain_text("reachable")
    os.kill(agent, signal.SIGSTOP)
    try:
        expect(row(page, SECOND)).to_contain_text("unreachable")
        expect(row(page, SECOND)).to_contain_text("Its agent does not answer.")
    finally:
        os.kill(agent, signal.SIGCONT)
    expect(row(page, SECOND)).not_to_contain_text("unreachable")


def test_a_node_is_drained_with_a_reason_and_resumed(window: Window, home: Home) -> None:
    page = window.show(f"/nodes/{SECOND}")
    page.get_by_role("textbox", name="Reason, shown to all users").fill(MARKUP)
    deed(page, "Drain").click()
    expect(page.locator(".node-why")).to_contain_text(re.compile(rf"Drained by \S+: {re.escape(MARKUP)}"))
    assert MARKUP in home.tarmac("node", "show", SECOND).stdout
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Nodes").click()
    expect(row(page, SECOND)).to_contain_text(MARKUP)
    assert page.locator("main img, main b:has-text('bold')").count() == 0
    page.go_back()
    deed(page, "Resume").click()
    expect(page.locator(".toast").filter(has_text=f"tarmac node resume {SECOND}")).to_be_visible()
    expect(deed(page, "Drain")).to_be_visible()
    assert not home.client().node(SECOND)["drained"]
    deed(page, "Drain").click()
    undo = page.locator(".toast").filter(has_text=f"tarmac node drain {SECOND}").last
    undo.get_by_role("button", name="Undo").click()
    assert until(lambda: not home.client().node(SECOND)["drained"])


def test_a_node_over_ssh_is_watched_tried_and_removed(window: Window, home: Home) -> None:
    add_away(home)
    page = window.show("/nodes")
    expect(row(page, AWAY)).to_contain_text("127.0.0.1 cannot be reached")
    page.get_by_role("link", name=AWAY, exact=True).click()
    deed(page, "Only watch").click()
    expect(page.locator(".node-page > header")).to_contain_text("watch only")
    assert home.client().node(AWAY)["watch_only"]
    deed(page, "Use for jobs").click()
    expect(deed(page, "Only watch")).to_be_visible()
    deed(page, "Try now").click()
    expect(page.locator(".toast").filter(has_text=f"Trying to reach {AWAY}")).to_be_visible()
    deed(page, "Remove").click()
    question = page.get_by_role("dialog", name=f"Remove {AWAY}?")
    expect(question).to_contain_text(f"tarmac node rm {AWAY}")
    question.get_by_role("button", name="Remove", exact=True).click()
    page.wait_for_url("**/nodes")
    expect(row(page, AWAY)).to_have_count(0)
    assert AWAY not in home.tarmac("node", "ls").stdout


def test_forgetting_a_node_names_what_becomes_of_its_jobs(window: Window, home: Home) -> None:
    add_away(home)
    page = window.show(f"/nodes/{AWAY}")
    deed(page, "Forget").click()
    question = page.get_by_role("dialog", name=f"Forget {AWAY}?")
    expect(question).to_contain_text("No job was running there.")
    expect(question).to_contain_text("Forget it only if it is gone for good.")
    question.get_by_role("button", name="Cancel").click()
    assert AWAY in home.tarmac("node", "ls").stdout
    job = home.add("sleep", "600")
    assert until(lambda: home.client().job(job).state == "running")
    running_there = """async ([job, node]) => {
      const { jobs } = await import('/page/data/store.js');
      if (jobs.get(job)?.state !== 'running') return false;
      jobs.get(job).node = node;
      return true;
    }"""
    assert until(lambda: page.evaluate(running_there, [job, AWAY]))  # a real one would need a machine that goes away
    deed(page, "Forget").click()
    expect(question).to_contain_text("1 job there, which has run")
    question.get_by_role("button", name="Forget", exact=True).click()
    page.wait_for_url("**/nodes")
    expect(row(page, AWAY)).to_have_count(0)


def test_a_machine_that_cannot_be_added_is_refused_in_the_words_of_the_command(window: Window, home: Home) -> None:
    page = window.show("/nodes")
    page.get_by_role("link", name="Add a node").click()
    form = page.get_by_role("region", name="Add a node")
    form.get_by_label("Host", exact=True).fill("ann@127.0.0.1")
    form.get_by_label("Port", exact=True).fill("9")
    form.get_by_label("Name", exact=True).fill(AWAY)
    form.get_by_label("only watch").check()
    expect(form.locator("code")).to_have_text(f"tarmac node add ann@127.0.0.1 --port 9 --name {AWAY} --watch-only")
    form.get_by_role("button", name="Add", exact=True).click()
    expect(form.get_by_role("alert")).to_contain_text("127.0.0.1 cannot be reached")
    refused = home.tarmac(*form.locator("code").inner_text().split()[1:])
    assert form.get_by_role("alert").locator("p").first.inner_text() in refused.stderr
    page.reload()
    expect(form.get_by_label("Port", exact=True)).to_have_value("9")
    page.evaluate("sessionStorage.clear()")


def test_nodes_are_linked_from_the_overview_and_from_jobs(window: Window, home: Home) -> None:
    job = home.add("--node", SECOND, "sleep", "600")
    assert until(lambda: home.client().job(job).state == "running")
    page = window.show(f"/jobs/{job}")
    page.get_by_role("region", name="Facts").get_by_role("link", name=SECOND).click()
    page.wait_for_url(f"**/nodes/{SECOND}")
    page = window.show("/")
    page.get_by_role("region", name=SECOND).get_by_role("link", name=SECOND).click()
    page.wait_for_url(f"**/nodes/{SECOND}")
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url("**/nodes")
    window.show("/nodes/nowhere")
    expect(page.get_by_text("There is no node with this name.")).to_be_visible()


def test_the_list_sorts_by_state_and_name(window: Window, home: Home) -> None:
    assert home.tarmac("node", "drain", SECOND).returncode == 0
    page = window.show("/nodes")
    names = page.get_by_role("rowheader")
    expect(names).to_have_text([here(home), SECOND])
    page.get_by_role("button", name="State").click()
    expect(names).to_have_text([SECOND, here(home)])
    page.get_by_role("button", name="Node", exact=True).click()
    expect(names).to_have_text(sorted([SECOND, here(home)]))


def test_other_users_see_nodes_without_controls(browser: Browser, home: Home) -> None:
    """The queue of one user has no others, so the session is changed on its way. The API has tests of its own."""
    window = open_window(browser, home)

    def without_rights(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "is_admin": False})

    window.page.route("**/session", without_rights)
    page = window.show("/nodes?add=1")
    expect(row(page, SECOND)).to_contain_text("reachable")
    assert page.locator("main").get_by_text("Add a node").count() == 0
    page = window.show(f"/nodes/{SECOND}")
    expect(page.get_by_role("region", name="Facts")).to_be_visible()
    assert page.get_by_role("region", name="Actions").count() == 0
    page.context.close()


def full(home: Home) -> dict[str, str]:
    """Something to see in every view; the parts by which it is known."""
    add_away(home)
    home.tarmac("node", "drain", SECOND, "--reason", "a fan that is louder than it should be")
    home.add("sleep", "600")
    home.add("--gpus", "2", "sleep", "600")
    shown = ".node-page .rows .row"
    return {"/nodes": ".nodes-table", "/nodes?add=1": "form", f"/nodes/{here(home)}": shown, f"/nodes/{AWAY}": ".deeds"}


def test_axe_finds_nothing(window: Window, home: Home) -> None:
    found = {}
    for address, part in full(home).items():
        window.page.emulate_media(color_scheme="light")
        page = window.show(address)
        page.locator("main").locator(part).first.wait_for()
        found[address] = findings(page)
        page.emulate_media(color_scheme="dark")
        found[f"{address} in the dark"] = findings(page, ["color-contrast"])
    window.page.emulate_media(color_scheme="light")
    assert {name: some for name, some in found.items() if some} == {}


def test_no_view_is_wider_than_a_phone(browser: Browser, home: Home) -> None:
    window = open_window(browser, home, size=PHONE)
    page = window.page
    for address, part in full(home).items():
        window.show(address).locator("main").locator(part).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        assert page.evaluate("document.querySelector('main').scrollWidth <= innerWidth"), address
        assert findings(page) == [], address
    page.context.close()
    assert window.complaints == []
