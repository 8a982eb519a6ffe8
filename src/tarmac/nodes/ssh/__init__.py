"""Nodes that are reached with the user's own `ssh`: one process per node, which carries the frames of its agent."""
