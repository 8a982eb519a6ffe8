"""The processes of an attempt: found, held together, watched and counted."""
