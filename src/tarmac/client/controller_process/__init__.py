"""The controller's process, when it does not answer: its start, its state, and how long a client waits for it."""
