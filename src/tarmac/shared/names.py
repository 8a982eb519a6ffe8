"""The words that cross every border of Tarmac: job states, tiers, outcomes, policies. Plain tuples, no imports.

`tarmac.core.model.names` declares the same words as types; a test compares the two.
"""

STATES = (
    "draft", "held", "queued", "starting", "running", "stopping", "unknown", "succeeded", "failed", "cancelled",
)  # fmt: skip
WAITING = ("queued", "held", "draft")
AT_WORK = ("starting", "running", "stopping", "unknown")
ENDED = ("succeeded", "failed", "cancelled")  # `unknown` too, once `ended_at` is set
ENTRIES = ("queued", "held", "draft")  # the states a submitted job may begin in
TIERS = ("urgent", "normal", "preemptible")  # the first goes first; the last may be preempted
FAILURES = ("exit", "signal", "timeout", "launch", "dependency")  # the `reason` of a failed job
OUTCOMES = ("ok", "fail")  # how a job ended, for the jobs that depend on it
CONDITIONS = ("ok", "fail", "any")  # on which outcome of another job a dependent job starts
POLICIES = ("fifo", "balance", "fairshare")
ACTIONS = ("none", "warn", "stop")  # what to do about a job that wastes its GPUs

API = 2  # the version of the HTTP API; a controller refuses clients that speak a newer one
