"""Names in the state directory that both sides of the protocol need."""

CHECKOUTS = "checkouts"  # a directory for each job with a snapshot
