"""Options of jobs that were submitted before: read back, changed and stored."""
