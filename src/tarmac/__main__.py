"""`python -m tarmac` is `tarmac`."""

from tarmac.cli import main

main()
