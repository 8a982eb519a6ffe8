"""`make screenshots`: pictures of every view, in both themes and languages, of a lab that is made up.

Pictures that the documentation shows go to docs/images, all others to build/screenshots.
"""

import json
import os
import re
import subprocess
import sys
from socket import gethostname

import lab
import world
from playwright.sync_api import sync_playwright

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHOWN = os.path.join(ROOT, "docs", "images")
OTHERS = os.path.join(ROOT, "build", "screenshots")
CHROMIUM = "/usr/bin/chromium"

# What is typed into a view before its picture is taken.
TYPED = {
    "new": {"#field-cwd": "/home/ann/vit", "#field-command": "python3 train.py --model vit-l --lr 3e-4"},
    "new-sweep": {
        "#field-cwd": "/home/ann/vit",
        "#field-command": "python3 train.py --lr {lr} --seed {seed}",
        '[placeholder="lr"] >> nth=0': "lr",
        '[placeholder="1e-3,3e-4"] >> nth=0': "1e-4,3e-4,1e-3",
        '[placeholder="lr"] >> nth=1': "seed",
        '[placeholder="1e-3,3e-4"] >> nth=1': "1..3",
    },
}
# Name, address with the names of jobs in braces, and what must be there before the picture is taken.
VIEWS = [
    ("overview", "/", "main article"),
    ("wall", "/?wall=1", "main article"),
    ("queue", "/queue", ".rows .row"),
    ("job-running", "/jobs/{vit-l-lr3e-4}", ".xterm-rows"),
    ("job-failed", "/jobs/{vit-h-lr3e-4}", ".xterm-rows"),
    ("job-waiting", "/jobs/{llm-7b-dpo}", "h1"),
    ("history", "/history", ".rows .ended-row"),
    ("new", "/new", "main form"),
    ("new-sweep", "/new?kind=sweep", "main form"),
    ("new-batch", "/new?kind=batch", "main form"),
    ("reports", "/reports", "main table"),
    ("nodes", "/nodes", ".nodes-table"),
    ("node", "/nodes/%s" % gethostname(), ".node-page .tile"),
    ("group", "/groups/{sweep}?metric=acc%3D(%5B%5Cd.%5D%2B)", ".plot .point"),
    ("settings", "/settings", "main h1, main h2"),
    ("admin", "/admin", "main h1, main h2"),
    ("reservations", "/reserve", "main h1, main h2"),
]
DESKTOP, LAPTOP, PHONE = (1440, 900), (1024, 768), (390, 844)
MAIN = ("overview", "queue", "job-running", "job-failed", "new", "history", "nodes", "node")
THEMES, LANGUAGES = ("light", "dark"), ("en", "zh")
SETTLED = "() => Promise.all(document.getAnimations().map((one) => one.finished))"


def main():
    os.makedirs(SHOWN, exist_ok=True)
    os.makedirs(OTHERS, exist_ok=True)
    only = sys.argv[1:]
    with world.a_lab(as_home()) as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for theme in THEMES:
            for language in LANGUAGES:
                take(browser, place, theme, language, only)
        browser.close()


def take(browser, place, theme, language, only):
    locale = {"en": "en-GB", "zh": "zh-CN"}[language]
    context = browser.new_context(locale=locale, color_scheme=theme, viewport=size(DESKTOP), reduced_motion="reduce")
    page = context.new_page()
    page.goto(json.loads(place.tarmac("web", "--json", "--no-open"))["url"])
    page.wait_for_selector(".shell")
    base = page.url.rstrip("/")
    for name, path, sign in VIEWS:
        if only and name not in only:
            continue
        address = base + re.sub(r"\{([^}]+)\}", lambda found: str(place.jobs[found.group(1)]), path)
        for width, height in sizes(name, theme, language):
            page.set_viewport_size(size((width, height)))
            page.goto(address)
            if not appears(page, sign):
                print("%s: %s did not appear" % (name, sign), file=sys.stderr)
            for field, text in TYPED.get(name, {}).items():
                page.locator(field).fill(text)
            page.evaluate(SETTLED)
            page.wait_for_timeout(900)  # charts, and the terminal's first frame
            picture = "%s-%s-%s%s.png" % (name, theme, language, "" if width == DESKTOP[0] else "-%d" % width)
            page.screenshot(path=os.path.join(SHOWN if picture in shown() else OTHERS, picture))
            print(picture, flush=True)
    context.close()


def appears(page, sign):
    try:
        page.wait_for_selector(sign, timeout=6000)
    except Exception:  # noqa: BLE001 - a picture of what is there helps more
        return False
    return True


def sizes(name, theme, language):
    yield DESKTOP
    if name in MAIN and language == "en":
        yield PHONE
        if theme == "light":
            yield LAPTOP


def size(pair):
    return {"width": pair[0], "height": pair[1]}


def shown():
    """The pictures that the documentation names."""
    files = ["README.md", "README.zh.md", *("docs/" + name for name in os.listdir(os.path.join(ROOT, "docs")))]
    found = set()
    for name in files:
        path = os.path.join(ROOT, name)
        if name.endswith(".md") and os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                found.update(re.findall(r"images/([\w.-]+\.png)", f.read()))
    return found


def as_home():
    """As root, the machine is called gpu01 and /home belongs to the lab, both only for this process."""
    return "/home" if "PLAYED_LAB" in os.environ else None


def enter_lab():
    """Run again where the machine has the name on the pictures, if we may."""
    if os.geteuid() == 0 and "PLAYED_LAB" not in os.environ:
        script = 'hostname %s && mount -t tmpfs tmpfs /home && exec "$@"' % world.NODE
        words = ["unshare", "--uts", "--mount", "sh", "-c", script, "sh", sys.executable, *sys.argv]
        if subprocess.run(["unshare", "--uts", "--mount", "true"], stderr=subprocess.DEVNULL).returncode == 0:
            os.execvpe(words[0], words, {**os.environ, "PLAYED_LAB": lab.SELF})


if __name__ == "__main__":
    enter_lab()
    main()
