"""Why an attempt failed: memory that ran out, or something outside the job. Found at its end, and only if it failed."""
