"""The event stream: every event is encoded once and shared by all who listen."""
