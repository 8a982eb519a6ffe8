"""The queue with a hundred thousand jobs in a browser: the first rows, and scrolling."""

from collections.abc import Iterator

from playwright.sync_api import Page

from bench.clock import median
from bench.figures import Figure, milliseconds
from bench.home import Home, home
from bench.page.browser import chromium, new_tab
from bench.page.programs import has

JOBS = 100_000
AT_ONCE = 10_000
ROUNDS = 3
SCROLLS = 60
WATCH = """
() => {
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: "longtask" });
}
"""
FIRST_ROWS = """
() => new Promise((resolve) => {
  const look = () =>
    document.querySelectorAll(".rows .row").length > 10 ? resolve(performance.now()) : requestAnimationFrame(look);
  look();
})
"""


def figures(program: str) -> Iterator[Figure]:
    if not has("chromium"):
        return
    with home(program, gpus=4) as place, chromium() as browser:
        place.hold_all_gpus()
        fill(place)
        shown_s, longest = [], []
        for _ in range(ROUNDS):
            page, address = new_tab(browser, place)
            page.goto(f"{address}/queue", wait_until="commit")
            shown_s.append(page.evaluate(FIRST_ROWS) / 1000)
            longest.append(longest_task_ms(page))
            page.context.close()
        yield Figure(
            what=f"first rows of {JOBS:,} queued jobs",
            measured=milliseconds(median(shown_s)),
            ratio=median(shown_s),
            unit="s",
            must=1,
            aim=0.5,
        )
        longest_ms = min(longest)  # others on the machine only make tasks longer
        yield Figure(
            what=f"longest task while scrolling through {JOBS:,}",
            measured=f"{longest_ms:.0f} ms",
            ratio=longest_ms,
            unit="ms",
            must=100,
            aim=50,
            note=f"best of {ROUNDS} rounds; the browser reports tasks from 50 ms",
        )


def fill(place: Home) -> None:
    """Separate jobs: a group would be one row."""
    for first in range(0, JOBS, AT_ONCE):
        jobs = [
            {"command": [place.program, str(number)], "name": f"run-{number}"}
            for number in range(first, first + AT_ONCE)
        ]
        place.client.call("POST", "/jobs", body={"cwd": place.folder, "environment": {}, "jobs": jobs})


def longest_task_ms(page: Page) -> float:
    """While the rest of the list arrives, and after that, down and up again."""
    page.evaluate(WATCH)
    page.mouse.move(700, 500)
    for direction in (1, -1):
        for _ in range(SCROLLS):
            page.mouse.wheel(0, direction * 4000)
            page.wait_for_timeout(50)
    return float(page.evaluate("() => Math.max(0, ...window.tasks)"))
