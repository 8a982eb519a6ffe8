"""The file of what was learned of cards, where it cannot be written, and what is left out of it."""

from pathlib import Path
from typing import Any

import pytest

from tarmac.agent.gpus.gpu_history import CardFile


def a_card(uuid: str, make: str = "nvidia") -> dict[str, Any]:
    known = {"index": 0, "uuid": uuid, "model": "A100", "memory_total_bytes": 1, "links": {}, "parent": None}
    return {**known, "make": make, "gone_since": None, "processes": [], "health": None}


def test_what_cannot_be_written_is_said_once_and_written_later(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "folder" / "cards.json"
    file = CardFile(str(path))
    for _ in range(3):
        file.write({"G": a_card("G")}, {"G": 2}, {"G": "broke"})
    assert capfd.readouterr().err.count("cannot be kept") == 1
    path.parent.mkdir()
    file.write({"G": a_card("G")}, {"G": 2}, {"G": "broke"})
    learned = CardFile(str(path)).read()
    assert (list(learned.cards), learned.ecc, learned.troubles) == (["G"], {"G": 2}, {"G": "broke"})


def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    CardFile(str(path)).write({"G": a_card("G")}, {}, {})
    before = path.stat().st_ino
    file = CardFile(str(path))
    learned = file.read()
    file.write({uuid: {**a_card(uuid), **card} for uuid, card in learned.cards.items()}, {}, {})
    assert path.stat().st_ino == before
    file.write({"G": a_card("G")}, {"G": 1}, {})
    assert path.stat().st_ino != before


def test_cards_that_somebody_wrote_down_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    CardFile(str(path)).write({make: a_card(make, make) for make in ("amd", "fake", "listed")}, {}, {})
    assert list(CardFile(str(path)).read().cards) == ["amd"]
