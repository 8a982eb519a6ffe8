"""Tables as comma-separated values, which the command line prints and the page offers to download."""
