"""What searches in the history find: parts of words in all texts of a job, and filters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tarmac.core.model.note import Note
from tarmac.core.model.status import Cancelled, Failed
from tarmac.store.history.index import HistoryIndex
from tarmac.store.history.search import HistoryFilter, search
from tarmac.store.store import Store
from tests.store.history.past import add, caught_up, ended, found
from tests.store.kept import opened

FAILED = Failed(
    booking=None,
    pid=None,
    started_at=None,
    ended_at=105.0,
    reason="oom-gpu",
    message="the node says: no space",
    error_line="RuntimeError: CUDA out of memory",
)


class Searched(NamedTuple):
    store: Store
    index: HistoryIndex


@pytest.fixture(scope="module", params=[True, False], ids=["with trigrams", "without"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searched]:
    with opened(tmp_path_factory.mktemp("history") / "tarmac.db") as store:
        index = HistoryIndex(store.path, lambda note: f"sentence of {note.key}")
        index.has_words = request.param
        fill(store)
        yield Searched(store, index)
        index.close()


@pytest.fixture
def index(shared: Searched) -> HistoryIndex:
    return shared.index


def fill(store: Store) -> None:
    add(
        store,
        ended(1, name="ResNet-50", project="vision", tags=("sweep", "lr")),
        ended(2, command=("python", "train.py", "--lr", "0.001", "--out", "/data/50%_done")),
        ended(3, command=None, shell="make -C 'my dir' && ./run", owner="bob"),
        ended(4, params=(("lr", "1e-3"), ("seed", "7")), name="Größe 训练"),
        ended(5, status=FAILED, project="vision", owner="bob"),
        ended(6, status=Cancelled(booking=None, pid=None, started_at=None, ended_at=106.0), name="a*b[c]"),
        ended(7, status=Failed(booking=None, pid=None, started_at=None, ended_at=107.0, reason="dependency",
                               message=Note("dependency.unmet"))),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "jobs"),
    [
        (("resnet",), [1]),
        (("NET-5",), [1]),
        (("vision",), [5, 1]),
        (("sweep",), [1]),
        (("train.py", "0.001"), [2]),
        (("0.001", "resnet"), []),
        (("50%_done",), [2]),
        (("50_",), []),  # neither % nor _ is a wildcard
        (("%",), [2]),
        (("my dir",), [3]),
        (("'my",), [3]),
        (("seed=7",), [4]),
        (("lr=1e",), [4]),
        (("größe",), [4]),
        (("GRÖSSE",), [4]),  # ß is folded to ss
        (("训练",), [4]),
        (("cuda out",), [5]),
        (("oom-gpu",), [5]),
        (("node says",), [5]),
        (("sentence of dependency",), [7]),
        (("a*b[c]",), [6]),
        (("zz",), []),
        (("lr",), [4, 2, 1]),
        (("r",), [7, 6, 5, 4, 3, 2, 1]),
        (('"',), []),
        (("a\0b",), []),
        (("NOT", "OR"), []),
        (("py",), [7, 6, 5, 4, 2, 1]),
    ],
)
def test_each_word_occurs_somewhere(index: HistoryIndex, words: tuple[str, ...], jobs: list[int]) -> None:
    assert found(index, *words) == jobs


@pytest.mark.parametrize(
    ("wanted", "jobs"),
    [
        ({"owner": "bob"}, [5, 3]),
        ({"owner": "nobody"}, []),
        ({"owner": "Bob"}, []),
        ({"states": ("failed",)}, [7, 5]),
        ({"states": ("failed", "cancelled")}, [7, 6, 5]),
        ({"states": ("unknown",)}, []),
        ({"states": ("unknown", "cancelled")}, [6]),
        ({"project": "vision"}, [5, 1]),
        ({"project": ""}, [7, 6, 4, 3, 2]),
        ({"tag": "sweep"}, [1]),
        ({"tag": "swee"}, []),
        ({"name": "ResNet*"}, [1]),
        ({"name": "resnet*"}, []),
        ({"name": "*[-]5?"}, [1]),
        ({"name": "a[*]b*"}, [6]),
        ({"name": "a\0b"}, []),
        ({"name": "*"}, [7, 6, 5, 4, 3, 2, 1]),
        ({"since": 106.0}, [7, 6]),
        ({"since": 9e9}, []),
        ({"until": 103.0}, [2, 1]),
        ({"since": 102.0, "until": 106.0, "owner": "bob", "states": ("failed",)}, [5]),
    ],
)
def test_filters(index: HistoryIndex, wanted: dict[str, Any], jobs: list[int]) -> None:
    assert found(index, **wanted) == jobs


def test_filters_and_words_together(index: HistoryIndex) -> None:
    assert found(index, "memory", owner="bob", project="vision", since=100.0) == [5]
    assert found(index, "memory", owner="ann") == []


def test_pages_follow_each_other_although_jobs_end_and_go_meanwhile(path: Path, store: Store) -> None:
    index, wanted = HistoryIndex(path), HistoryFilter()
    fill(store)
    first = search(caught_up(index), wanted, after=None, limit=3)
    assert ([place.job for place in first.places], first.is_last) == ([7, 6, 5], False)
    add(store, ended(8))
    index.forget([5])
    second = search(caught_up(index), wanted, after=first.places[-1], limit=3)
    assert ([place.job for place in second.places], second.is_last) == ([4, 3, 2], False)
    index.rebuild()
    third = search(caught_up(index), wanted, after=second.places[-1], limit=3)
    assert ([place.job for place in third.places], third.is_last) == ([1], True)
    index.close()
