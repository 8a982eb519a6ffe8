"""What jobs report about themselves: metrics in their logs and files."""
