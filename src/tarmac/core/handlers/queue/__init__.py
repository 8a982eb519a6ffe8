"""Jobs that wait, and the queue as a whole."""
