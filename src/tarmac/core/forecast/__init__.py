"""When jobs are expected to end and to start."""
