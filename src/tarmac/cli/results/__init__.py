"""Results: which metrics are asked for, and how they are sorted, printed and drawn."""
