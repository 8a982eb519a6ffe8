"""The agent under both containments, for the tests of its contract."""

from tests.agent_peer import peer, site

__all__ = ["peer", "site"]
