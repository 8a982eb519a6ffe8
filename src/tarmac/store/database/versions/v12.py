"""Nodes on which no job starts, because a person or Tarmac drained them."""

STEP = """
    CREATE TABLE node_drains (
        node TEXT PRIMARY KEY,
        body TEXT NOT NULL          -- JSON: why, by whom and since when
    ) WITHOUT ROWID;
    """
