"""How far running jobs are, read from their logs."""
