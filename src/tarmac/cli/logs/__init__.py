"""Turns the bytes of a log into what a terminal would show. Plain text passes through."""
