"""`python -m tarmac.agent`."""

import sys

from tarmac.agent.main import main

sys.exit(main(sys.argv[1:]))
