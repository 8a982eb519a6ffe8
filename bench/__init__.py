"""Tarmac against this machine's own limits, all measured in one run. `make bench`."""
