"""The agent: the hands of Tarmac on one machine. Standard library only, Python 3.8 and up, stands alone."""
