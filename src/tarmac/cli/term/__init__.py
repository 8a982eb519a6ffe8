"""The terminal: streams, colours, keys, live screens and signals."""
