"""The schema of the database, one migration step per released version. Steps are only added, never edited.

`tests/store/schemas/` contains a database of every version; all of them must always open.
"""

from __future__ import annotations

from tarmac.store.database.versions import v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13

APPLICATION_ID = 0x7461726D  # "tarm": a file without it is not ours

STEPS: tuple[str, ...] = tuple(version.STEP for version in (v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13))

VERSION = len(STEPS)
