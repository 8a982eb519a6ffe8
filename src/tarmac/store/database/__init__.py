"""The database file: its schema, how it is opened and shrunk, and what is done if it vanishes."""
