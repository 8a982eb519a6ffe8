"""Jobs as people type them: options, commands, sweeps and batches, read into the bodies of a submit.

The command line and the API share these rooms, so that the page reads what a terminal reads. No files, no environment
of the process, no controller: the caller passes in what was typed. `UserError` says what is wrong with it.
"""
