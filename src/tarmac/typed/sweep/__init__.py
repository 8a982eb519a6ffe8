"""Sweeps: parameters and their values, the combinations to run, and the template that is filled in with each."""
