"""Attempts on several nodes: where their further parts were, and how each part ended."""

STEP = """
    ALTER TABLE attempts ADD COLUMN parts TEXT;  -- JSON; NULL for an attempt on one node
    """
