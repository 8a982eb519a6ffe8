"""Many jobs from one idea: sweeps, batches, arrays, their listings and their past."""
