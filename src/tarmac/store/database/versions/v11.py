"""The host memory of each attempt by the minute, for the charts of a job."""

STEP = """
    CREATE TABLE memory_samples (
        job INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        at INTEGER NOT NULL,        -- when the minute began, in seconds since the epoch
        bytes INTEGER NOT NULL,     -- the most that was read in it
        PRIMARY KEY (job, attempt, at)
    ) WITHOUT ROWID;
    """
