"""The command line: one verb, one file, and an import list short enough to start in milliseconds."""
