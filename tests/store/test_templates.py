"""Templates survive a restart, for each user."""

from dataclasses import replace
from pathlib import Path

from tarmac.core.changes import Changes
from tarmac.store.batch import Batch
from tarmac.store.templates import StoredTemplate
from tests.store.kept import commit, opened

ONE = StoredTemplate(owner="ann", name="big", job=7, saved_at=5.0, options={"gpus": 2, "tags": ["a"]})


def test_templates_are_kept_replaced_and_removed(tmp_path: Path) -> None:
    path, other = tmp_path / "db", replace(ONE, owner="bob")
    with opened(path) as store:
        commit(store, Batch(changes=Changes(), templates={("ann", "big"): ONE, ("bob", "big"): other}))
    with opened(path) as store:
        assert (store.reader.templates("ann"), store.reader.templates("bob")) == ([ONE], [other])
        new = replace(ONE, job=8)
        commit(store, Batch(changes=Changes(), templates={("ann", "big"): new, ("bob", "big"): None}))
        assert (store.reader.templates("ann"), store.reader.templates("bob")) == ([new], [])
