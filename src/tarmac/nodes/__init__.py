"""The controller's end of each place where jobs run."""
