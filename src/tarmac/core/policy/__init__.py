"""Which waiting job starts next, and where."""
