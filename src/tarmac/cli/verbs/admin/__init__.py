"""Verbs about the queue, the GPUs and Tarmac itself."""
