"""What runs in the shim of an attempt."""
