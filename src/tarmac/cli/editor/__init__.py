"""Options of jobs in the user's editor, as TOML."""
