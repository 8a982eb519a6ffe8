"""What Tarmac remembers: one SQLite file. The only SQL of the project is in this folder."""
