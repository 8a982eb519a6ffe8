"""A user's own settings on the page: how it looks, defaults, templates and targets of notifications."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.home import Home, homes
from tests.page.browser import Window
from tests.receivers import Webhook

MARKUP = "<img src=x onerror=alert(1)><b>bold</b>"
CONFIG = """
# kept as it is
[defaults]
gpus = 2
env = ["HF_TOKEN=hf_verysecret"]

[notify.targets]
hook = "json://127.0.0.1:{port}/topsecretpath"
away = "json://127.0.0.1:1/"
"""


@pytest.fixture(scope="module")
def hook() -> Iterator[Webhook]:
    hook = Webhook()
    yield hook
    hook.close()


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory, hook: Webhook) -> Iterator[Home]:
    """A home with a config file."""
    path = tmp_path_factory.mktemp("shared") / "home"
    path.mkdir(mode=0o700)
    (path / "config.toml").write_text(CONFIG.format(port=hook.port))
    (path / "config.toml").chmod(0o600)
    yield from homes(path)


def choice(page: Page, name: str) -> Locator:
    return page.get_by_role("combobox", name=name)


def field(within: Locator, name: str) -> Locator:
    return within.get_by_role("textbox", name=name)


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name)


def test_the_theme_and_the_density_are_chosen_and_kept(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "0", "sleep", "600")
    page = window.show("/settings")
    choice(page, "Theme").select_option("dark")
    choice(page, "Rows").select_option("dense")
    page.reload()
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).to_have_attribute("data-density", "dense")
    window.show("/queue")
    expect(page.locator(".rows .row").first).to_have_css("height", "32px")
    window.show("/settings")
    choice(page, "Theme").select_option("")
    choice(page, "Rows").select_option("")
    expect(root).not_to_have_attribute("data-theme", "dark")


def test_the_language_is_chosen(window: Window) -> None:
    page = window.show("/settings")
    choice(page, "Language").select_option("zh")
    expect(part(page, "任务的默认选项")).to_be_visible()
    choice(page, "语言").select_option("en")
    expect(part(page, "Defaults for your jobs")).to_be_visible()


def test_defaults_are_shown_without_secrets_and_with_their_file(window: Window, swept_home: Home) -> None:
    page = window.show("/settings")
    defaults = part(page, "Defaults for your jobs")
    expect(defaults.get_by_role("row").filter(has_text="gpus")).to_contain_text("2")
    expect(defaults).to_contain_text("HF_TOKEN=***")
    expect(defaults).to_contain_text(str(swept_home.path / "config.toml"))
    assert "verysecret" not in page.content()


def test_a_template_is_saved_used_and_removed(window: Window, swept_home: Home) -> None:
    number = swept_home.add("--gpus", "1", "--gpu-mem", "2G", "--tag", MARKUP, "--hold", "sleep", "600")
    page = window.show("/settings")
    templates = part(page, "Templates")
    field(templates, "Name").fill("small one")
    field(templates, "Job").fill("999999")
    templates.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="999999")).to_be_visible()
    page.reload()
    expect(field(templates, "Name")).to_have_value("small one")
    field(templates, "Job").fill(str(number))
    templates.get_by_role("button", name="Save", exact=True).click()
    row = templates.get_by_role("listitem").filter(has_text="small one")
    expect(row).to_contain_text("gpu-mem 2G")
    expect(row).to_contain_text(MARKUP)
    assert "small one" in swept_home.tarmac("template", "ls").stdout
    row.get_by_role("button", name="Remove", exact=True).click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("tarmac template rm 'small one'")
    question.get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)
    assert "small one" not in swept_home.tarmac("template", "ls").stdout


def test_a_test_message_reaches_the_server_and_a_failure_is_explained(window: Window, hook: Webhook) -> None:
    page = window.show("/settings")
    targets = part(page, "Notifications")
    expect(targets.get_by_role("listitem").filter(has_text="hook")).to_contain_text("json://127.0.0.1:")
    targets.get_by_role("button", name="Send a test hook").click()
    expect(targets).to_contain_text("The server accepted the message.")
    assert hook.messages
    targets.get_by_role("button", name="Send a test away").click()
    expect(targets.get_by_role("listitem").filter(has_text="away").locator(".bad").first).to_be_visible()
    assert "topsecretpath" not in page.content()
