"""Verbs that show jobs, GPUs and what happened."""
