"""What the API shows of the state: each view builds the type that its schema declares."""
