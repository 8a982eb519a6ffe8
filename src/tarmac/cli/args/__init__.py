"""Options and arguments that several verbs share, and their parsers."""
