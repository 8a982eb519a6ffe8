"""The words that cross every border of Tarmac: job states, tiers, conditions, policies. Plain tuples, no imports.

`tarmac.core.model.names` declares the same words as types; a test compares the two.
"""

WAITING = ("queued", "held", "draft")
AT_WORK = ("starting", "running", "paused", "stopping", "unknown")
ENDED = ("succeeded", "failed", "cancelled")  # `unknown` too, once `ended_at` is set
STATE_GROUPS = ("waiting", "active", "ended")  # words for several states: `active` is every job that has not ended
TIERS = ("urgent", "normal", "preemptible")  # the first goes first; the last may be preempted
CONDITIONS = ("ok", "fail", "any")  # on which outcome of another job a dependent job starts
POLICIES = ("fifo", "balance", "fairshare")
RETRY_KINDS = ("exit", "signal", "oom", "timeout", "lost", "launch")  # ends of an attempt that can be retried
RETRIED = ("exit", "signal", "oom", "launch")  # those that are, unless the job says otherwise
MOST_RETRIES = 1000
LONGEST_NOTICE = 1000  # characters
ON_OOM = ("fail", "retry", "grow")  # what to do after a job ran out of memory
PLACEMENTS = ("pack", "spread")  # of jobs over nodes
ORDERS = ("submitted", "expected")  # of one owner's jobs
JOB_EVENTS = ("start", "end", "fail", "oom", "idle", "retry")  # of a job, for notifications
QUEUE_EVENTS = (
    "queue-empty", "gpu-idle", "gpu-drained", "node-drained", "owner-suspended", "reservation-released",
)  # fmt: skip

API = 2  # the version of the HTTP API; a controller refuses clients that speak a newer one
