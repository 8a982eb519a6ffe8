"""A simulator of the scheduler: the same core, driven by a trace of jobs on simulated machines.

Pure like the core: time is data, nothing is read or written, and the same trace gives the same figures.
"""
