"""Textbook schedulers, independent of the core, which the core is compared with.

They place jobs as the core does (the fullest node that fits, the lowest GPU indices), so that a test can compare the
start of every job.
"""
