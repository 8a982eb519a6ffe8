"""What must hold of every state; tests check it after every event."""
