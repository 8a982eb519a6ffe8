"""`python -m tarmac` is `tarmac`."""

try:
    from tarmac.cli.main import main

    main()
except KeyboardInterrupt:  # Ctrl-C while it is still being loaded
    import os

    os._exit(130)
