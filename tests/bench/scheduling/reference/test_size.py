from pathlib import Path

import pytest

import bench.scheduling.reference

FILES = sorted(Path(bench.scheduling.reference.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_reference_is_short_and_independent_of_tarmac(file: Path):
    text = file.read_text()
    assert len(text.splitlines()) <= 150
    assert "tarmac" not in text
