"""Tarmac's own processes and files, as opposed to those of jobs."""
