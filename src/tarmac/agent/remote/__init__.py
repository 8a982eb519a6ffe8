"""The first steps on a node that is reached over SSH: receive the agent, start it, and connect the link to it."""
