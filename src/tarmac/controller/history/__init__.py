"""The history of ended jobs: searching, cleaning, exporting and importing it."""
