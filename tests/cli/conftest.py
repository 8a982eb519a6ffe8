from pathlib import Path

import pytest


@pytest.fixture
def socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The socket of a stub controller, for commands that run inside the test."""
    monkeypatch.setenv("TARMAC_HOME", str(tmp_path))
    return tmp_path / "tarmac.sock"
