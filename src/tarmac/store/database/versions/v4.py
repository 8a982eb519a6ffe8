"""Records say why a job is requeued; sentences did before."""

STEP = """
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
    """
