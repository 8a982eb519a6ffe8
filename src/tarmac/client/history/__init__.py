"""Ended jobs: listing, removing, exporting and importing them."""
