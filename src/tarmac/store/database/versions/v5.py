"""A drain without a reason has none; a sentence stood there before."""

STEP = """
    -- A drain without a reason was stored with a sentence; its reason is null from here on.
    UPDATE gpus
    SET drain = json_set(drain, '$.reason', NULL)
    WHERE json_extract(drain, '$.reason') = 'drained by ' || json_extract(drain, '$.by');
    """
