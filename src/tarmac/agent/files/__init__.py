"""Everything the agent does with paths that users choose, in helper processes: such a file system may hang."""
