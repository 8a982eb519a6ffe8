"""The loop that joins the core, the store and the nodes; recovery, settings, progress."""
