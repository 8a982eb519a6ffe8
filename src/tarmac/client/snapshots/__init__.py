"""Takes snapshots of the submitter's code: which files belong to it, what they contain, and their upload."""
