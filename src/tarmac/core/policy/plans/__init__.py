"""Planned starts of jobs that do not fit yet, and what they leave to other jobs."""
