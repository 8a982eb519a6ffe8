"""GPUs, settings, what jobs used, and samples of GPUs."""

STEP = """
    -- What people or Tarmac said about a card; it is kept while the card is away.
    CREATE TABLE cards (
        node TEXT NOT NULL,
        uuid TEXT NOT NULL,
        drain TEXT,                 -- JSON, or NULL when it is not drained
        slots INTEGER NOT NULL,
        PRIMARY KEY (node, uuid)
    ) WITHOUT ROWID;

    CREATE TABLE settings (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL         -- as typed
    ) WITHOUT ROWID;

    -- What an attempt took of its cards, once it has ended.
    CREATE TABLE usage (
        job INTEGER PRIMARY KEY,
        peak_gpu_memory_bytes INTEGER,
        utilization REAL,           -- average, per cent
        energy_j REAL
    );

    -- One row a card and minute.
    CREATE TABLE samples (
        at INTEGER NOT NULL,
        node TEXT NOT NULL,
        uuid TEXT NOT NULL,
        memory_used_bytes INTEGER,
        utilization REAL,
        power_w REAL,
        PRIMARY KEY (node, uuid, at)
    ) WITHOUT ROWID;
    """
