"""The pure core: decides what happens to jobs, without side effects.

No I/O, no clock, no randomness, no logging; time comes in as data. `import-linter` enforces this.
"""
