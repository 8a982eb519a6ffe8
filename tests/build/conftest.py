from collections.abc import Iterator

import pytest

from tests.build.registry import Registry, running


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with running() as one:
        monkeypatch.setenv("npm_config_registry", one.address)
        yield one
