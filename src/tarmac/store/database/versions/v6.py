"""Answers to repeated requests. Environments that no job refers to are removed."""

STEP = """
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
    """
