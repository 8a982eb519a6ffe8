"""The scheduler on machines that do not exist: the same core, driven by a trace of jobs instead of by people.

Pure like the core: time is data, nothing is read or written, and the same trace gives the same figures.
"""
