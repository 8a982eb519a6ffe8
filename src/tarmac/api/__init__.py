"""The HTTP API. The command line, the page and other programs act through it alone."""
