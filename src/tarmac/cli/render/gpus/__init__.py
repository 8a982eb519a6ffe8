"""GPUs and the nodes they belong to."""
