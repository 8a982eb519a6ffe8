"""Nodes that people add and remove while the controller runs."""
