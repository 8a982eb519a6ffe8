"""Batches: files with many jobs, read and checked as a whole before any is queued."""
