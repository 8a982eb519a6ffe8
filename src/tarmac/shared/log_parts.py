"""The files beside a log with a cap."""

OLDER = ".older"  # what was in the log before
CUT = ".older.cut"  # the next of these, complete, while the log is emptied
NEW = ".older.new"  # a copy under way
PARTS = (OLDER, CUT, NEW)
