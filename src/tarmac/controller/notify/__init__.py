"""Notifications: targets, the outbox, and the process that sends them."""
