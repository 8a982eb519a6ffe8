"""Arrays, reservations, the mode of the queue, and GPU time by the hour."""

STEP = """
    -- The first of the array a job belongs to. `position` holds fractions from here on; its type does not mind.
    ALTER TABLE jobs ADD COLUMN group_id INTEGER;

    -- AUTOINCREMENT: a reservation that is over never lends its number to another.
    CREATE TABLE reservations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        body TEXT NOT NULL          -- JSON
    );

    -- What is to be said of the queue as a whole.
    CREATE TABLE meta (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL         -- JSON
    ) WITHOUT ROWID;

    -- GPU time by hour and whose it was, for fair shares and weekly limits.
    CREATE TABLE gpu_hours (
        hour INTEGER NOT NULL,      -- since the epoch
        owner TEXT NOT NULL,
        project TEXT NOT NULL,      -- empty: none
        gpu_s REAL NOT NULL,
        PRIMARY KEY (hour, owner, project)
    ) WITHOUT ROWID;
    """
