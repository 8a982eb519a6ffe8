"""Benchmarks of Tarmac relative to the limits of this machine, measured in one run by `make bench`."""
