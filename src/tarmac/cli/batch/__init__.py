"""`tarmac add --batch`: reads the file, and submits its jobs."""
