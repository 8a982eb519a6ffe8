"""Records as text: tables, single jobs and GPUs, settings, reservations."""
