"""Python environments of jobs: virtual and conda environments are found, activated and described."""
