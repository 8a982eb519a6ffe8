"""The records of the core. They hold facts and decide nothing."""
