"""The variables of a job, and the Python environment it runs in."""
