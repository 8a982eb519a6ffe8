"""Prometheus metrics: the text format, and every family of metrics with how it is read."""
