"""What `tarmac clean` reports."""

from typing import Any

import pytest

from tarmac.cli.verbs.keep.clean import _lines, _remove


def test_jobs_whose_removal_was_not_answered_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The controller was killed after a commit, and the client asked the next one."""
    preview: Any = {"jobs": 1000, "before": 5.0, "before_id": 9}
    monkeypatch.setattr("tarmac.client.history.history.clean_previewed", lambda *_: iter([300, 200]))
    monkeypatch.setattr("tarmac.client.history.history.preview_cleaning", lambda *_: {"jobs": 3})
    client: Any = None
    assert _remove(client, {}, preview) == 997


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_the_preview_fits_the_terminal(columns: int) -> None:
    moments = {"oldest": "2026-01-01T00:00:00Z", "newest": "2026-02-01T00:00:00Z"}
    preview: Any = {"jobs": 17, "kept": 2, "log_bytes": 36 << 10, "database_bytes": 147 << 10, **moments}
    lines = _lines(preview, columns).splitlines()
    assert max(map(len, lines)) <= columns
    assert " ".join(" ".join(lines).split()) == _lines(preview, None).strip()
