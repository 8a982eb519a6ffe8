"""Files of ended jobs that are copied back from other machines: `--fetch`."""
