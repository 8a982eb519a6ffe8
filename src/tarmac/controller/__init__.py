"""The loop that joins core, store and nodes: decide, commit, carry out."""
