"""Accounts: GPU time by day, owner, project and GPU, reports of it, and the memory that jobs took."""
