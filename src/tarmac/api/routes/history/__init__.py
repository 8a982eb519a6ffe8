"""Ended jobs: listing, exports and reports."""
