"""Files that verbs write and read for the user."""
