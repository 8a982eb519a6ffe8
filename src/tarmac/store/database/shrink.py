"""Returns the space of removed jobs to the file system, while no commit waits.

SQLite keeps free pages in the file and uses them again. When most of the file is free, what is in use is written anew:
about 10 ms per megabyte in use, and a commit that arrives meanwhile waits that long. A file with a lot in use is
therefore left as it is. Incremental vacuum would avoid the wait, but makes every commit slower.
"""

from __future__ import annotations

import sqlite3

SPARE_PAGES = 256  # of 4 KiB; fewer free pages are not worth it
MOST_USED_PAGES = 8192
MOST_USED_AFTER_CLEANING = 65536  # a person who cleans expects a smaller file, and accepts a pause of some seconds


def shrink(connection: sqlite3.Connection, most_used_pages: int = MOST_USED_PAGES) -> bool:
    """Shrink the file if that is worthwhile and quick. Returns whether it did."""
    free = _number(connection, "freelist_count")
    used = _number(connection, "page_count") - free
    if free <= max(SPARE_PAGES, used) or used > most_used_pages:
        return False
    connection.execute("PRAGMA temp_store = MEMORY")  # the copy contains environments, which may be secret
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError:
        return False  # the disk is full; the next removal tries again
    finally:
        connection.execute("PRAGMA temp_store = DEFAULT")
    return True


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
