"""One job in full, as `tarmac show` prints it."""
