"""Forms: jobs, sweeps and batches whose options were typed into fields, with a mistake for each wrong field."""
