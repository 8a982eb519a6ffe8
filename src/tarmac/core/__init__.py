"""The pure core: decides what happens to jobs and never touches the outside.

No I/O, no clock, no randomness, no logging; time comes in as data. `import-linter` holds it to that.
"""
