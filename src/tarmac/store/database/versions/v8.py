"""Groups, links, secrets apart, fingerprints, imported jobs and templates."""

STEP = """
    -- Arrays, sweeps and batches. The jobs of a group have consecutive ids, from its own id on.
    CREATE TABLE groups (
        id INTEGER PRIMARY KEY,     -- of its first job
        owner TEXT NOT NULL,
        kind TEXT NOT NULL,         -- array, sweep or batch
        name TEXT,
        command TEXT NOT NULL,      -- as lists show it, with placeholders
        varies TEXT NOT NULL,       -- what differs between its jobs, in short: lr=1e-3,3e-4 seed=1,2,3
        params TEXT NOT NULL,       -- JSON list of the names of a sweep's parameters
        indices TEXT,               -- of an array
        count INTEGER NOT NULL,     -- of the jobs that were submitted
        submitted_at REAL NOT NULL
    );
    CREATE INDEX groups_name ON groups (name) WHERE name IS NOT NULL;

    -- How many jobs of a group are in each state. Triggers keep it; new jobs are added by the writer, many at once.
    CREATE TABLE group_counts (
        group_id INTEGER NOT NULL,
        state TEXT NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (group_id, state)
    ) WITHOUT ROWID;
    CREATE INDEX group_counts_live ON group_counts (group_id)
    WHERE count > 0 AND state IN ('queued', 'held', 'draft', 'starting', 'running', 'paused', 'stopping');
    CREATE TRIGGER group_job_changed AFTER UPDATE OF state ON jobs
    WHEN new.group_id IS NOT NULL AND new.state IS NOT old.state
    BEGIN
        UPDATE group_counts SET count = count - 1 WHERE group_id = old.group_id AND state = old.state;
        INSERT INTO group_counts VALUES (new.group_id, new.state, 1) ON CONFLICT DO UPDATE SET count = count + 1;
    END;
    CREATE TRIGGER group_job_removed AFTER DELETE ON jobs WHEN old.group_id IS NOT NULL
    BEGIN
        UPDATE group_counts SET count = count - 1 WHERE group_id = old.group_id AND state = old.state;
        DELETE FROM groups WHERE id = old.group_id
        AND NOT EXISTS (SELECT 1 FROM group_counts WHERE group_id = old.group_id AND count > 0);
        DELETE FROM group_counts WHERE group_id = old.group_id
        AND NOT EXISTS (SELECT 1 FROM groups WHERE id = old.group_id);
    END;

    -- The index was a part of the spec; without it, the jobs of an array share one.
    ALTER TABLE jobs ADD COLUMN array_index INTEGER;
    UPDATE jobs SET array_index = json_extract(spec, '$.index') WHERE group_id IS NOT NULL AND json_valid(spec);
    INSERT INTO groups
    SELECT group_id, owner, 'array', max(name), '', '[0-' || (max(id) - group_id) || ']', '[]', NULL,
           max(id) - group_id + 1, min(submitted_at)
    FROM jobs WHERE group_id IS NOT NULL GROUP BY group_id;
    INSERT INTO group_counts SELECT group_id, state, count(*) FROM jobs WHERE group_id IS NOT NULL GROUP BY 1, 2;

    -- `tarmac ls` shows groups in one line each; these find the other jobs.
    CREATE INDEX jobs_live_alone ON jobs (id) WHERE is_live = 1 AND group_id IS NULL;
    CREATE INDEX jobs_ended_alone ON jobs (id) WHERE is_live = 0 AND group_id IS NULL;

    -- Addresses of experiment trackers that jobs wrote to their logs.
    CREATE TABLE links (
        job INTEGER NOT NULL,
        kind TEXT NOT NULL,         -- wandb, mlflow or tensorboard
        url TEXT NOT NULL,
        PRIMARY KEY (job, url)
    ) WITHOUT ROWID;

    -- Few jobs are at work, even if a million wait.
    CREATE INDEX jobs_at_work ON jobs (id) WHERE state IN ('starting', 'running', 'paused', 'stopping', 'unknown');

    -- The values of secret variables are in this file beside the database. `environments.move_secrets_out` moves those
    -- of earlier versions.
    ALTER TABLE environments ADD COLUMN secrets TEXT;
    CREATE INDEX environments_secrets ON environments (secrets) WHERE secrets IS NOT NULL;

    -- The Python and the packages that jobs were started with.
    CREATE TABLE fingerprints (
        hash TEXT PRIMARY KEY,
        body BLOB NOT NULL          -- compressed JSON object
    ) WITHOUT ROWID;
    CREATE TABLE job_fingerprints (
        job INTEGER PRIMARY KEY,
        attempt INTEGER NOT NULL,
        hash TEXT NOT NULL
    );
    CREATE INDEX job_fingerprints_hash ON job_fingerprints (hash);
    CREATE TRIGGER fingerprint_job_removed AFTER DELETE ON jobs
    BEGIN
        DELETE FROM job_fingerprints WHERE job = old.id;
    END;
    CREATE TRIGGER fingerprint_unused AFTER DELETE ON job_fingerprints
    BEGIN
        DELETE FROM fingerprints WHERE hash = old.hash
        AND NOT EXISTS (SELECT 1 FROM job_fingerprints WHERE hash = old.hash);
    END;

    -- Names this queue in exports, so that an import recognizes its own jobs.
    INSERT INTO meta VALUES ('queue', '"' || lower(hex(randomblob(8))) || '"');

    -- Jobs that came from an export. A row stays when its job is removed: the id is not given to another job.
    CREATE TABLE imported (
        job INTEGER PRIMARY KEY,
        queue TEXT NOT NULL,        -- in which it was submitted
        original_id INTEGER NOT NULL,
        original_group INTEGER,
        submitted_at REAL NOT NULL
    );
    CREATE INDEX imported_original ON imported (original_id, submitted_at);

    -- Options of jobs under a name, for `tarmac add --template`.
    CREATE TABLE templates (
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        job INTEGER NOT NULL,       -- that it was made of
        saved_at REAL NOT NULL,
        options TEXT NOT NULL,      -- JSON object, as a submit takes them
        PRIMARY KEY (owner, name)
    ) WITHOUT ROWID;
    """
