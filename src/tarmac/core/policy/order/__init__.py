"""Which job is next: owners, an owner's jobs, and jobs that others have passed for long."""
