"""One way of reading GPUs per file."""
