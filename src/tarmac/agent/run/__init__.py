"""One attempt on this machine, from its start request to its exit record."""
