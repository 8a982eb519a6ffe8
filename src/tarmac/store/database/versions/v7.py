"""Accounts, memory peaks, the outbox, attempts, retries and suspended owners."""

STEP = """
    -- The roll-up that `tarmac report` reads. It stays when jobs are removed.
    CREATE TABLE accounts (
        day TEXT NOT NULL,          -- in the time zone of the controller
        kind TEXT NOT NULL,         -- job, or foreign for processes that Tarmac did not start
        owner TEXT NOT NULL,        -- of a foreign process, its user; empty: not known
        project TEXT NOT NULL,      -- empty: none
        node TEXT NOT NULL,         -- empty: not known
        gpu TEXT NOT NULL,          -- UUID; empty: counts of jobs, and time whose GPU is not known
        held_s REAL NOT NULL,       -- GPU-seconds; a shared GPU counts by the part that is booked
        pause_s REAL NOT NULL,      -- of these, paused
        measured_s REAL NOT NULL,   -- of these, with a known utilization
        used_s REAL NOT NULL,       -- measured, weighted by utilization
        energy_j REAL,
        peak_bytes INTEGER,
        jobs INTEGER NOT NULL,      -- each counts once, with its first attempt
        PRIMARY KEY (day, kind, owner, project, node, gpu)
    ) WITHOUT ROWID;
    INSERT INTO accounts
    SELECT date(hour * 3600, 'unixepoch', 'localtime') AS day, 'job', owner, project, '', '', sum(gpu_s), 0, 0, 0, NULL,
           NULL, 0
    FROM gpu_hours GROUP BY day, owner, project;

    -- Of a job, all attempts together.
    ALTER TABLE usage ADD COLUMN held_s REAL NOT NULL DEFAULT 0;
    ALTER TABLE usage ADD COLUMN pause_s REAL NOT NULL DEFAULT 0;
    ALTER TABLE usage ADD COLUMN measured_s REAL NOT NULL DEFAULT 0;
    ALTER TABLE usage ADD COLUMN used_s REAL NOT NULL DEFAULT 0;

    -- The GPU memory that the last jobs with this name or command took. It stays when jobs are removed.
    CREATE TABLE memory_peaks (
        owner TEXT NOT NULL,
        kind TEXT NOT NULL,         -- name:NAME, or command:HASH for a job without a name
        job INTEGER NOT NULL,
        at REAL NOT NULL,
        peak_bytes INTEGER NOT NULL,
        PRIMARY KEY (owner, kind, job)
    ) WITHOUT ROWID;
    CREATE INDEX memory_peaks_at ON memory_peaks (at);
    INSERT INTO memory_peaks
    SELECT owner, 'name:' || name, id, at, peak FROM (
        SELECT owner, name, id,
               coalesce(CASE WHEN json_valid(status) THEN json_extract(status, '$.ended_at') END, 0) AS at,
               peak_gpu_memory_bytes AS peak,
               row_number() OVER (PARTITION BY owner, name ORDER BY id DESC) AS place
        FROM jobs JOIN usage ON usage.job = jobs.id
        WHERE state = 'succeeded' AND name IS NOT NULL AND peak_gpu_memory_bytes > 0
    ) WHERE place <= 5;

    -- Notifications that are to be sent, or could not be sent.
    CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        token TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL,        -- whose target it is; empty: a target for all users
        target TEXT NOT NULL,
        at REAL NOT NULL,           -- of the event
        event TEXT NOT NULL,
        job INTEGER,
        detail TEXT NOT NULL,       -- JSON object, which the message is made of
        due_at REAL NOT NULL,
        tries INTEGER NOT NULL DEFAULT 0,
        error TEXT,                 -- of the last try
        given_up_at REAL
    );
    CREATE INDEX outbox_target ON outbox (owner, target, due_at);

    -- Automatic retries since the job was submitted or retried by hand, and attempts that ran out of memory.
    ALTER TABLE jobs ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE jobs ADD COLUMN ooms INTEGER NOT NULL DEFAULT 0;

    -- Every attempt that has ended. The job's status tells about the latest one.
    CREATE TABLE attempts (
        job INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        node TEXT NOT NULL,
        gpus TEXT NOT NULL,         -- JSON list of what was booked
        pid INTEGER,
        started_at REAL,            -- NULL: its command never ran
        ended_at REAL NOT NULL,
        reason TEXT,
        exit_code INTEGER,
        signal INTEGER,
        message TEXT,               -- JSON
        error_line TEXT,
        paused_s REAL NOT NULL DEFAULT 0,
        peak_gpu_memory_bytes INTEGER,
        utilization REAL,           -- average, per cent
        energy_j REAL,
        PRIMARY KEY (job, attempt)
    ) WITHOUT ROWID;

    -- Owners whose jobs do not start, because the last ones all failed.
    CREATE TABLE suspensions (
        owner TEXT PRIMARY KEY,
        body TEXT NOT NULL          -- JSON
    ) WITHOUT ROWID;
    """
