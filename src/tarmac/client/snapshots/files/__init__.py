"""Which files belong to a snapshot."""
