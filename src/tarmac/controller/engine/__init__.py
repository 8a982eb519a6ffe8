"""Decides, commits and carries out, and what the engine needs for it."""
