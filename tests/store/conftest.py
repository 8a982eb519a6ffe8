from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tarmac.store.store import Store
from tests.store.kept import opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tarmac.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with opened(path) as store:
        yield store
