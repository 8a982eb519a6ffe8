"""Languages, sizes, themes and accessibility."""

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.home import Home
from tests.page.browser import Window, open_window
from tests.page.test_jobs import SLEEP

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "src/tarmac/web/page"
AXE = (
    "axe-core",
    "4.14.0",
    "sha512-9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ==",
)
FORMS = ("new", "sweep", "batch", "edit")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@cache
def axe() -> str:
    """The source of axe-core. It is injected by the test, not served by the page."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import npm
    finally:
        sys.path.pop(0)
    source: bytes = npm.fetch(*AXE).files["axe.min.js"]
    return source.decode()


def findings(page: Page, rules: list[str] = RULES) -> list[Any]:
    page.evaluate(axe())
    page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished))")
    found = page.evaluate("(rules) => axe.run(document, { runOnly: rules })", rules)
    return [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found["violations"]]


def busy(home: Home) -> dict[str, str]:
    """Jobs in many states; the addresses of the views that show them."""
    failed = home.add("--gpus", "0", "--name", "broken", "python3", "-c", "raise ValueError('no')")
    running = home.add("--gpus", "1", "--name", "at-work", "--tag", "vision", "sleep", "600")
    waiting = home.add("--gpus", "2", "--name", "in-line", "sleep", "600")
    home.add("--hold", "sleep", "600")
    assert home.tarmac("sweep", "--gpus", "2", "sleep {s}", "s=601..604").returncode == 0
    home.tarmac("wait", str(failed))
    jobs = {"failed": failed, "running": running, "waiting": waiting}
    return {
        "overview": "/",
        "queue": "/queue",
        "history": "/history",
        "reports": "/reports",
        "new": "/new",
        "sweep": "/new?kind=sweep",
        "batch": "/new?kind=batch",
        "edit": f"/jobs/{waiting}/edit",
        **{name: f"/jobs/{number}" for name, number in jobs.items()},
    }


def test_axe_finds_nothing(window: Window, swept_home: Home) -> None:
    """In both themes, which differ in their colours only."""
    found = {}
    for name, address in busy(swept_home).items():
        window.page.emulate_media(color_scheme="light")
        page = window.show(address)
        page.wait_for_selector(
            {
                "overview": ".tile",
                "queue": ".rows .row",
                "history": ".ended",
                "reports": ".heat",
                **dict.fromkeys(FORMS, ".form"),
            }.get(name, ".job")
        )
        if name in {"failed", "running"}:
            page.wait_for_selector(".xterm-rows")
        found[name] = findings(page)
        page.emulate_media(color_scheme="dark")
        found[f"{name} in the dark"] = findings(page, ["color-contrast"])
    assert {name: some for name, some in found.items() if some} == {}


def test_no_view_is_wider_than_a_phone(phone: Page, swept_home: Home) -> None:
    origin = re.match(r"http://[^/]+", phone.url)
    assert origin
    for address in busy(swept_home).values():
        phone.goto(origin.group() + address)
        phone.wait_for_selector("main > :not(.notices)")
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        assert phone.evaluate("document.querySelector('main').scrollWidth <= innerWidth"), address
    assert findings(phone) == []


def test_every_view_is_within_reach_of_a_thumb(phone: Page) -> None:
    bar = phone.get_by_role("navigation", name="Views")
    more = bar.get_by_role("button", name="More")
    for name, path in {"Reservations": "/reserve", "Settings": "/settings", "Admin": "/admin"}.items():
        expect(bar.get_by_role("link", name=name)).to_have_count(0)
        more.click()
        link = bar.get_by_role("link", name=name)
        assert link.evaluate("(one) => one.scrollWidth <= one.clientWidth && one.offsetHeight >= 44")
        link.click()
        phone.wait_for_url(f"**{path}")
    for entry in bar.locator("> a, > button").all():
        assert entry.evaluate("(one) => one.scrollWidth <= one.clientWidth")
        box = entry.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_a_wall_shows_the_figures_and_fills_its_width(browser: Browser, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", *SLEEP)
    swept_home.add("--gpus", "2", *SLEEP)
    window = open_window(browser, swept_home, size={"width": 1920, "height": 1080})
    page = window.show("/?wall=1")
    figures = page.locator(".wall-figures")
    expect(figures).to_contain_text(re.compile(r"running\s*1\s*waiting\s*1\s*failed today"))
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    last = page.locator(".tiles > li").last.bounding_box()
    assert last
    assert last["x"] + last["width"] > 1850
    page.context.close()


def test_the_language_is_the_browsers_and_can_be_switched(browser: Browser, swept_home: Home) -> None:
    page = open_window(browser, swept_home, locale="zh-CN").page
    expect(page.get_by_role("link", name="队列", exact=True)).to_be_visible()
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    page.get_by_role("button", name="Switch to English").click()
    expect(page.get_by_role("link", name="Queue", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name="Queue", exact=True)).to_be_visible()
    page.context.close()


def test_reasons_and_refusals_are_in_the_language_of_the_page_in_all_tabs(browser: Browser, swept_home: Home) -> None:
    swept_home.add("--gpus", "2", *SLEEP)
    number = swept_home.add("--gpus", "2", "--name", "second", *SLEEP)
    window = open_window(browser, swept_home, locale="zh-CN")
    page = window.show(f"/jobs/{number}")
    expect(page.locator("main")).to_contain_text("申请了 2 张 GPU")
    other = page.context.new_page()
    other.goto(f"{window.address}/jobs/{number}")
    expect(other.locator("main")).to_contain_text("申请了 2 张 GPU")
    assert swept_home.tarmac("hold", str(number)).returncode == 0  # arrives by the stream, in one tab for both
    for tab in (page, other):
        expect(tab.locator("main")).to_contain_text("挂起；运行 `tarmac release` 放行")
    other.get_by_role("button", name="Switch to English").click()
    for tab in (page, other):
        expect(tab.locator("main")).to_contain_text("run `tarmac release` to release it")
    assert swept_home.tarmac("release", str(number)).returncode == 0
    for tab in (page, other):
        expect(tab.locator("main")).to_contain_text("requested 2 GPUs")
    page.context.close()


def test_both_languages_have_every_string_with_the_same_values(window: Window) -> None:
    """Placeholders too. Every key that the sources use exists, and no room repeats a key."""
    rooms = [f"/page/words/rooms/{file.name}" for file in sorted((PAGE / "words/rooms").glob("*.js"))]
    everything = window.show("/").evaluate(
        """async (rooms) => {
          const [{ en }, { zh }] = [await import('/page/words/en.js'), await import('/page/words/zh.js')];
          const first = { en: { ...en }, zh: { ...zh } };
          return [first, ...(await Promise.all(rooms.map(async (path) => (await import(path)).room)))];
        }""",
        rooms,
    )
    languages: dict[str, dict[str, Any]] = {"en": {}, "zh": {}}
    for room in everything:
        assert list(room["en"]) == list(room["zh"])
        assert languages["en"].keys() & room["en"].keys() == set()
        languages["en"] |= room["en"]
        languages["zh"] |= room["zh"]
    for key, english in languages["en"].items():
        assert placeholders(languages["zh"][key]) <= placeholders(english), key
    sources = [file.read_text() for file in PAGE.rglob("*.js") if "words" not in file.parts]
    used = {key for text in sources for key in re.findall(r"""\bt\(\s*"([\w.-]+)\"""", text)}
    assert used - set(languages["en"]) == set()


def placeholders(message: Any) -> set[str]:
    forms = [message] if isinstance(message, str) else list(message.values())
    return {name for form in forms for name in re.findall(r"\{(\w+)\}", form)} - {"n", "id"}


def test_the_theme_is_switched_and_kept(window: Window) -> None:
    page = window.show("/")
    page.emulate_media(color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(ground) != light
    page.reload()
    page.wait_for_selector("main")
    assert page.evaluate(ground) != light
    page.evaluate("localStorage.removeItem('tarmac.theme')")
