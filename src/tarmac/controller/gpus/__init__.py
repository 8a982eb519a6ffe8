"""GPU readings as the controller sees them: foreign processes, lost GPUs and usage."""
