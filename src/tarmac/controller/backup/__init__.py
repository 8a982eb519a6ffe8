"""Backups of a state directory, and their restoration. They run in processes of the command line."""
