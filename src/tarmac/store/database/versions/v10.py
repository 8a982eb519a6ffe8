"""GPU time of each node by the hour, for the heat map of a report.

Samples would have to be read by the million: there is one for each GPU and minute.
"""

STEP = """
    CREATE TABLE node_hours (
        at INTEGER NOT NULL,        -- when the hour began, in seconds since the epoch
        node TEXT NOT NULL,
        present_s REAL NOT NULL,    -- GPU-seconds with readings
        held_s REAL NOT NULL,       -- of these, booked by jobs
        measured_s REAL NOT NULL,   -- of these, with a known utilization
        used_s REAL NOT NULL,       -- measured, weighted by utilization
        PRIMARY KEY (at, node)
    ) WITHOUT ROWID;
    """
