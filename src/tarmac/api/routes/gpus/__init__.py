"""GPUs and the foreign processes on them."""
