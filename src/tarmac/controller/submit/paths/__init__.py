"""The paths of a submit: its directory and its output files."""
