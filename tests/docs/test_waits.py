"""The figures on the page about waiting are those of the scheduler as it is now, and support what the page says."""

import pytest

from tests.docs.write_waits import PAGE, Summary, figures_on, summaries

OFF, OFF_POINTS = 0.4, 5.0  # how far figures may be off until the page has to be written again


@pytest.fixture(scope="module")
def found() -> dict[str, Summary]:
    return summaries()


def test_the_page_shows_figures_of_this_scheduler(found: dict[str, Summary]):
    shown = figures_on(PAGE.read_text(encoding="utf-8"))
    assert list(shown) == list(found)
    for label, summary in found.items():
        for old, new in zip(shown[label], summary.cells(), strict=True):
            assert is_close(old, new), f"{label}: {old} is now {new}; run: python -m tests.docs.write_waits"


def is_close(old: str, new: str) -> bool:
    if old.endswith("%"):
        return abs(float(old[:-1]) - float(new[:-1])) <= OFF_POINTS
    return float(new) == pytest.approx(float(old), rel=OFF)


def test_no_policy_waits_longer_than_plain_fifo(found: dict[str, Summary]):
    plain = found["plain FIFO, without backfill"]
    assert plain.wait == 1
    assert [label for label, summary in found.items() if summary.wait > 1] == []


def test_sharing_and_short_jobs_first_help(found: dict[str, Summary]):
    for policy in ("`balance`", "`fairshare`"):
        assert found[policy].slowdown < found["`fifo`"].slowdown
        assert found[policy].short < found["`fifo`"].short
    assert found["`balance`, order `expected`"].slowdown < found["`balance`"].slowdown


def test_jobs_wait_about_as_long_without_limits(found: dict[str, Summary]):
    for policy in ("`fifo`", "`fairshare`", "`balance`"):
        assert found[f"no limits: {policy}"].wait < 1.25 * found[policy].wait
