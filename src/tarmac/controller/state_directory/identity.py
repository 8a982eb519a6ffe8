"""The id of a controller, under which nodes keep its agent. It stays when the database is lost, as the agents do."""

from __future__ import annotations

import os
import re
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAME = "controller.id"
VALID = re.compile(r"[a-z0-9-]{8,64}")


def controller_id(state_folder: Path, host: str) -> str:
    """Random, with the host name for people who look at a node."""
    path = state_folder / NAME
    try:
        known = path.read_text().strip()
    except FileNotFoundError:
        known = ""
    if VALID.fullmatch(known):
        return known
    words = re.sub(r"[^a-z0-9]+", "-", host.lower()).strip("-")[:24]
    made = f"{words or 'host'}-{secrets.token_hex(6)}"
    fresh = path.with_suffix(".new")
    with open(fresh, "w", encoding="ascii") as file:
        file.write(made + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(path)
    return made
