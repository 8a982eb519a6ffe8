"""The first page: its size, the time until it can be used, and how soon its tiles follow a change."""

import time
from collections.abc import Iterator

from playwright.sync_api import Browser, Page

from bench.clock import median
from bench.figures import Figure, milliseconds
from bench.home import Home, home
from bench.page.browser import chromium, new_tab
from bench.page.programs import has

KB = 1024
ROUNDS = 5
# Usable: every GPU has its tile, and the thread that handles clicks is idle.
USABLE = """
() => new Promise((resolve) => {
  const look = () =>
    document.querySelectorAll("main article").length
      ? requestIdleCallback(() => resolve(performance.now()))
      : requestAnimationFrame(look);
  look();
})
"""
FILES = """
() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((one) => !new URL(one.name).pathname.startsWith("/api/"))
  .map((one) => one.encodedBodySize)
"""
TILE = "(word) => [...document.querySelectorAll('main article')].some((tile) => tile.textContent.includes(word))"


def figures(program: str) -> Iterator[Figure]:
    if not has("chromium"):
        return
    with home(program, gpus=4) as place, chromium() as browser:
        loads = [load(browser, place) for _ in range(ROUNDS)]
        size_kb = loads[0][1] / KB
        usable_s = median([seconds for seconds, _ in loads])
        yield Figure(
            what="first page, compressed", measured=f"{size_kb:.0f} KB", ratio=size_kb, unit="KB", must=150, aim=100
        )
        yield Figure(
            what="first page, usable after",
            measured=milliseconds(usable_s),
            ratio=usable_s,
            unit="s",
            must=1,
            aim=0.5,
            note="Chromium, empty cache",
        )
        page, address = new_tab(browser, place)
        page.goto(address)
        late_s = max(tile_delay_s(page, place) for _ in range(ROUNDS))
        yield Figure(
            what="tile after a change, slowest",
            measured=milliseconds(late_s),
            ratio=late_s,
            unit="s",
            must=1.5,
            aim=0.5,
        )


def load(browser: Browser, place: Home) -> tuple[float, int]:
    """Seconds until the overview can be used, and the bytes of its files, with an empty cache."""
    page, address = new_tab(browser, place)
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    page.goto(address, wait_until="commit")
    usable_s = page.evaluate(USABLE) / 1000
    size = sum(page.evaluate(FILES))
    page.context.close()
    return usable_s, size


def tile_delay_s(page: Page, place: Home) -> float:
    """From the answer to a submit until a tile names the job. The GPUs are free, so that it starts at once."""
    page.wait_for_function("() => document.querySelectorAll('main article').length")
    name = f"seen-{time.monotonic_ns()}"
    job = place.client.submit(["sleep", "60"], name=name)
    started = time.perf_counter()
    page.wait_for_function(TILE, arg=name)
    seconds = time.perf_counter() - started
    place.client.kill(job.id, grace_s=0)
    place.client.wait([job.id])
    return seconds
