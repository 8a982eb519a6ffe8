"""Verbs about jobs that have ended: history, clean, export, import, backup, restore."""
