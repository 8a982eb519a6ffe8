from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a database."""
    return tmp_path / "tarmac.db"
