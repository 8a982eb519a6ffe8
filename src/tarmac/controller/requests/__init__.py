"""What requests of users have in common: whose they are, which jobs they mean, and whether they are repeated."""
