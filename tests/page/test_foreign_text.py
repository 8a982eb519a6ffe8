"""Names, commands, tags and logs are shown as they are. Nothing in them is interpreted."""

import re

from playwright.sync_api import expect

from tests.home import Home
from tests.page.browser import Window
from tests.page.test_files import PAGE

MARKUP = "<img src=x onerror=alert(1)><x-mark>bold</x-mark>"
OVERRIDE = "\u202egnp.exe"
MADE_OF_IT = "() => document.querySelectorAll('img, x-mark, script:not([src])').length"


def addresses(job: int, group: int) -> list[str]:
    """Every view, from the table of the page."""
    patterns = re.findall(r"pattern: /\^(\S+?)\$/", (PAGE / "main.js").read_text(encoding="utf-8"))
    paths = [pattern.replace("\\/", "/").replace("?", "") for pattern in patterns]
    assert len(paths) > 2
    numbers = {"/jobs/": job, "/groups/": group}
    numbered = [(path, number) for path in paths for start, number in numbers.items() if path.startswith(start)]
    return [
        "/",
        "/?wall=1",
        *[path for path in paths if "(" not in path],
        *[re.sub(r"\(.*\)", str(number), path) for path, number in numbered],
    ]


def test_markup_is_text_in_every_view(window: Window, swept_home: Home) -> None:
    script = f"echo '<script>alert(2)</script>{MARKUP}'; : '{MARKUP}'; sleep 600"
    words = ("--name", MARKUP, "--tag", "<i>tag</i>", "--note", MARKUP, "--project", MARKUP)
    number = swept_home.add("--gpus", "1", *words, "bash", "-c", script)
    failed = swept_home.add("--gpus", "0", *words, "python3", "-c", f"raise ValueError('''{MARKUP}''')")
    done = swept_home.tarmac("sweep", "--hold", *words, f"echo '{MARKUP}' {{a}}", f"a={MARKUP},2")
    assert done.returncode == 0, done.stderr
    group = swept_home.client().call("GET", "/groups")["groups"][0]["id"]
    assert swept_home.tarmac("notice", MARKUP).returncode == 0
    assert swept_home.tarmac("queue", "pause", "--reason", MARKUP).returncode == 0
    swept_home.tarmac("gpu", "drain", "1", "--reason", MARKUP)
    page = window.page
    try:
        for path in [
            *addresses(number, group),
            f"/jobs/{failed}",
            f"/history?search={MARKUP}",
            f"/queue?text={MARKUP}",
        ]:
            window.show(path)
            expect(page.locator("body")).to_contain_text("<x-mark>")
            assert page.evaluate(MADE_OF_IT) == 0, path
        window.show("/")
        expect(page.get_by_role("article").filter(has_text=MARKUP).first).to_be_visible()
        window.show("/queue")
        expect(page.get_by_role("row").filter(has_text=MARKUP).first).to_contain_text("<i>tag</i>")
        window.show(f"/jobs/{number}")
        expect(page.get_by_role("heading", level=1)).to_contain_text(MARKUP)
        expect(page.locator(".facts")).to_contain_text(MARKUP)
        expect(page.locator(".xterm-rows")).to_contain_text("<script>alert(2)</script>")
        assert page.evaluate(MADE_OF_IT) == 0
        window.show(f"/jobs/{failed}")
        expect(page.locator(".headline")).to_contain_text(MARKUP)
        assert page.evaluate(MADE_OF_IT) == 0
    finally:
        for words in (["notice", "--clear"], ["queue", "resume"], ["gpu", "undrain", "1"]):
            swept_home.tarmac(*words)


def test_characters_that_hide_something_are_visible(window: Window, swept_home: Home) -> None:
    swept_home.add("--gpus", "1", "--name", OVERRIDE, "sleep", "600")
    page = window.show("/queue")
    expect(page.get_by_role("row").filter(has_text="⟨U+202E⟩gnp.exe")).to_be_visible()
