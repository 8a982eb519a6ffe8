"""Environments of jobs: their variables, their secrets, and the Python they used."""
