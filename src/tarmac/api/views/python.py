"""The Python of a job as the API serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.api.schemas.job.python import PythonView

if TYPE_CHECKING:
    from tarmac.store.environments.fingerprints import Fingerprint


def python_view(found: Fingerprint | None) -> PythonView | None:
    if found is None:
        return None
    return PythonView(path=found.python, version=found.version, packages=found.packages)
