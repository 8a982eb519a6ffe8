"""Recognizes a work tree in which nothing changed since its last snapshot, without listing or reading it again."""
