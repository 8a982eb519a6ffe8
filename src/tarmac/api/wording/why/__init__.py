"""Why a job waits, in words."""
