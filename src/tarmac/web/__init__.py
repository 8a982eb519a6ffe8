"""The page: its files, and the door through which browsers reach them and the API."""
