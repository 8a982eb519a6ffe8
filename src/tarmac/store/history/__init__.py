"""The history of ended jobs: its index, the removal of old jobs, and exported records."""
