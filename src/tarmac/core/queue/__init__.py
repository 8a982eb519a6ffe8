"""The waiting jobs, by class, with jobs that were moved and kinds of requests."""
