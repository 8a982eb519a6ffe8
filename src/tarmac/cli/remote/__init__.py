"""The command line with `-H`: verbs that must run on the other machine, and the page."""
