"""How messages are stored, looked up and filled in, for a language and a time zone."""
