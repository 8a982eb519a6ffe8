"""What nodes over SSH cost: many of them, some that hang, and one real host on loopback."""
