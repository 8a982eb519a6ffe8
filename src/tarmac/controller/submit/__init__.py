"""What a submit asks for, and the checks it must pass before any job is queued."""
