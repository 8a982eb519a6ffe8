"""Frozen code: accepts uploaded snapshots, keeps those that jobs need, and removes the others."""
