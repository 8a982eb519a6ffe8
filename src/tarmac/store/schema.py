"""The schema of the database, one migration step per released version. Steps are only added, never edited.

`tests/store/schemas/` contains a database of every version; all of them must always open.
"""

from __future__ import annotations

APPLICATION_ID = 0x7461726D  # "tarm": a file without it is not ours

STEPS: tuple[str, ...] = (
    """
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
    """,
    """
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
    """,
    """
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
    """,
    """
    ALTER TABLE cards RENAME TO gpus;

    -- Why a job is requeued was a sentence; it is a record from here on.
    UPDATE jobs
    SET status = json_set(status, '$.requeue', json(CASE
        WHEN json_extract(status, '$.for_job') IS NOT NULL
        THEN json_object('why', 'preempted', 'for_job', json_extract(status, '$.for_job'))
        ELSE json_object('why', 'queue_stopped',
                         'by', replace(json_extract(status, '$.requeue'), ' stopped the queue', ''))
        END))
    WHERE state = 'stopping' AND json_type(status, '$.requeue') = 'text';
    UPDATE jobs
    SET status = json_set(status, '$.requeued', json(CASE
        WHEN json_extract(status, '$.note') LIKE '% stopped the queue'
        THEN json_object('why', 'queue_stopped',
                         'by', replace(json_extract(status, '$.note'), ' stopped the queue', ''))
        WHEN json_extract(status, '$.note') LIKE 'made room for job %'
        THEN json_object('why', 'preempted',
                         'for_job', CAST(substr(json_extract(status, '$.note'), 19) AS INTEGER))
        ELSE json_object('why', 'preempted')
        END))
    WHERE state = 'queued' AND json_type(status, '$.note') = 'text';
    """,
    """
    -- A drain without a reason was stored with a sentence; its reason is null from here on.
    UPDATE gpus
    SET drain = json_set(drain, '$.reason', NULL)
    WHERE json_extract(drain, '$.reason') = 'drained by ' || json_extract(drain, '$.by');
    """,
    """
    -- The answers of the last day: a request that is repeated with the same key gets the same answer.
    CREATE TABLE answers (
        owner TEXT NOT NULL,
        key TEXT NOT NULL,
        at REAL NOT NULL,
        answer BLOB NOT NULL,       -- JSON; empty: carried out, and the answer is formed again
        PRIMARY KEY (owner, key)
    ) WITHOUT ROWID;
    CREATE INDEX answers_at ON answers (at);

    -- An environment, which may contain secrets, is deleted with the last job that refers to it.
    CREATE INDEX jobs_environment ON jobs (CASE WHEN json_valid(spec) THEN json_extract(spec, '$.environment') END);
    DELETE FROM environments
    WHERE NOT EXISTS (
        SELECT 1 FROM jobs WHERE CASE WHEN json_valid(spec) THEN json_extract(spec, '$.environment') END = hash
    );
    """,
    """
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
    """,
)

VERSION = len(STEPS)
