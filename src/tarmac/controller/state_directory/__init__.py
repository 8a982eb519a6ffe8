"""The directory the controller lives in: its lock, its log, and whether its files are still there."""
