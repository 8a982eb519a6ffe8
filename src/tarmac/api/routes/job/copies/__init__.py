"""Copies of jobs: clones and reruns, the code they run, and the group they form."""
