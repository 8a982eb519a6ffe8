"""Jobs, their environments, their events, and submits that may be repeated."""

STEP = """
    CREATE TABLE environments (
        hash TEXT PRIMARY KEY,
        body BLOB NOT NULL          -- compressed JSON object
    ) WITHOUT ROWID;

    -- AUTOINCREMENT: an id is never given twice, not even after the newest job was removed.
    CREATE TABLE jobs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        owner TEXT NOT NULL,
        name TEXT,
        state TEXT NOT NULL,
        is_live INTEGER NOT NULL,   -- not ended: the controller holds it in memory
        attempt INTEGER NOT NULL,
        position INTEGER NOT NULL,
        submitted_at REAL NOT NULL,
        spec TEXT NOT NULL,         -- JSON of what was asked
        status TEXT NOT NULL        -- JSON of what this state carries
    );
    CREATE INDEX jobs_live ON jobs (id) WHERE is_live = 1;
    CREATE INDEX jobs_ended ON jobs (id) WHERE is_live = 0;

    CREATE TABLE events (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        job INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        at REAL NOT NULL,
        kind TEXT NOT NULL,
        detail TEXT NOT NULL        -- JSON object
    );
    CREATE INDEX events_job ON events (job);

    -- A submit that is sent again under the same token gets the same jobs.
    CREATE TABLE submissions (
        owner TEXT NOT NULL,
        token TEXT NOT NULL,
        first_id INTEGER NOT NULL,
        count INTEGER NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (owner, token)
    ) WITHOUT ROWID;
    """
