"""`python -m tarmac` is `tarmac`."""

try:
    from tarmac.cli.main import main

    main()
except KeyboardInterrupt:  # Ctrl-C while modules are still loading
    import os

    os._exit(130)
