"""Tarmac: a GPU job scheduler. Jobs wait on the tarmac; each takes off when a GPU is clear."""

__version__ = "0.1.0"
