"""Frozen code: the objects of a snapshot, the file that stores them, and the checkout that a job runs in."""
