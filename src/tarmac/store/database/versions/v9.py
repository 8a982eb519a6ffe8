"""Links with the columns of their key first.

SQLite 3.40 takes other orders in a table without rowid for damage: its check reports NULL in columns that have values.
"""

STEP = """
    CREATE TABLE links_of_jobs (
        job INTEGER NOT NULL,
        url TEXT NOT NULL,
        kind TEXT NOT NULL,         -- wandb, mlflow or tensorboard
        PRIMARY KEY (job, url)
    ) WITHOUT ROWID;
    INSERT INTO links_of_jobs SELECT job, url, kind FROM links;
    DROP TABLE links;
    ALTER TABLE links_of_jobs RENAME TO links;
    """
