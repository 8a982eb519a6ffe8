"""One job, and what is asked of jobs."""
