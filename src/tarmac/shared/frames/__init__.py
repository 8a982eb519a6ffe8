"""The type of every frame between controller and agent. `agent/frames.py` has those inside the agent.

For type checkers: import these modules under TYPE_CHECKING only. Building the types takes longer than importing the
rest of `tarmac.shared`. `protocol` encodes and decodes the frames; a decoded frame has the shape its "type" promises
only as far as its reader has checked it.
"""
