"""What an agent keeps on disk about attempts, for itself and for the agents after it."""
