"""Ended jobs, and what they held and used."""
