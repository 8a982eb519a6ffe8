"""Verbs that queue jobs."""
