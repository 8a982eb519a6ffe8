"""What happens to attempts on their nodes."""
