"""How good the schedules are: the core beside textbook schedulers, on a trace of jobs."""
