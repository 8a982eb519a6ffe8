"""Facts of a machine, asked of its agent: whether paths are usable there, and who a process is."""

from __future__ import annotations

import asyncio
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec

from tarmac.refusal import Refused
from tarmac.shared.frames.to_controller import OutputVerdict
from tarmac.shared.protocol import MAX_FRAME_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tarmac.core.model.ids import NodeName
    from tarmac.nodes.fleet import Fleet
    from tarmac.shared.frames.to_agent import CheckEnvironmentsFrame, CheckPathsFrame, FingerprintSubject

# Of directories and of outputs each. Short questions keep the agent from working on one for long.
PATHS_PER_QUESTION = 4000
CHARS_PER_QUESTION = MAX_FRAME_BYTES // 32  # a character takes up to 12 bytes in a frame
CHECKED_WITHIN_S = 1.0


class PathFacts(msgspec.Struct, kw_only=True):
    """In the order of the question."""

    directories: list[bool | None]  # whether each exists and is a directory; null: its file system does not answer
    outputs: list[OutputVerdict]
    # The same file has an identity in common. None: unknown; empty: a device or a pipe. An older agent names none.
    identities: list[list[str] | None] = []
    present: list[bool | None] = []
    programs: list[bool | None] = []


class VenvFacts(msgspec.Struct, kw_only=True):
    is_venv: bool | None  # None: the file system does not answer
    nearest: str | None  # the one that was probably meant


class CondaFacts(msgspec.Struct, kw_only=True):
    is_known: bool | None
    prefix: str | None
    known: list[str]  # others, the nearest first


class EnvironmentFacts(msgspec.Struct, kw_only=True):
    """In the order of the question."""

    venvs: list[VenvFacts]
    condas: list[CondaFacts]


class Process(msgspec.Struct, kw_only=True):
    pid: int
    start_time: int
    uid: int
    name: str
    command: list[str]  # empty if it has none, or not yet
    cwd: str | None


class ProcessFacts(msgspec.Struct, kw_only=True):
    boot_id: str
    agent_uid: int
    processes: list[Process]  # only those that exist


async def check_paths(
    fleet: Fleet,
    node: NodeName,
    directories: Sequence[str],
    outputs: Sequence[str],
    reserved: Sequence[str] = (),
    *,
    present: Sequence[str] = (),
    programs: Sequence[str] = (),
) -> PathFacts | None:
    """None if the agent is away or does not answer in time: then nobody knows.

    `reserved` are directories that no output may be in, `present` are paths that may be anything, and `programs` are
    files that must be executable.
    """
    if fleet.silent_s(node) is not None:
        return None
    known = PathFacts(directories=[], outputs=[], identities=[], present=[], programs=[])
    try:
        async with asyncio.timeout(CHECKED_WITHIN_S) as patience:
            parts = zip_longest(*map(_parts, (directories, outputs, present, programs)), fillvalue=())
            for some_directories, some_outputs, some_present, some_programs in parts:
                question: CheckPathsFrame = {
                    "type": "check_paths",
                    "directories": list(some_directories),
                    "outputs": list(some_outputs),
                    "reserved": list(reserved),
                    "present": list(some_present),
                    "programs": list(some_programs),
                }
                answer = await fleet.ask(node, question)
                part = msgspec.convert(answer, PathFacts)
                known.directories += part.directories
                known.outputs += part.outputs
                known.present += part.present
                known.programs += part.programs
                known.identities += part.identities or [None] * len(part.outputs)
                patience.reschedule(asyncio.get_running_loop().time() + CHECKED_WITHIN_S)
    except (TimeoutError, Refused):
        return None
    return known


def _parts(paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths in pieces that fit into a question, in their order."""
    part: list[str] = []
    chars = 0
    for path in paths:
        if part and (len(part) >= PATHS_PER_QUESTION or chars + len(path) > CHARS_PER_QUESTION):
            yield part
            part, chars = [], 0
        part.append(path)
        chars += len(path)
    if part:
        yield part


async def check_environments(
    fleet: Fleet,
    node: NodeName,
    venvs: Sequence[tuple[str, str]],  # the path, and the directory of the job
    condas: Sequence[tuple[str, str]],  # the name or path, and the directory of the job
    variables: dict[str, str],
) -> EnvironmentFacts | None:
    """None if the agent is away or does not answer in time: then nobody knows."""
    if fleet.silent_s(node) is not None:
        return None
    question: CheckEnvironmentsFrame = {
        "type": "check_environments",
        "venvs": [{"path": path, "cwd": cwd} for path, cwd in venvs],
        "condas": [{"name": name, "cwd": cwd} for name, cwd in condas],
        "variables": variables,
    }
    try:
        async with asyncio.timeout(CHECKED_WITHIN_S):
            return msgspec.convert(await fleet.ask(node, question), EnvironmentFacts)
    except (TimeoutError, Refused, msgspec.ValidationError):
        return None


async def take_fingerprint(fleet: Fleet, node: NodeName, subject: FingerprintSubject) -> Any:
    """A Fingerprint frame. None if the command uses no Python, or the agent does not answer in time."""
    if fleet.silent_s(node) is not None:
        return None
    try:
        async with asyncio.timeout(CHECKED_WITHIN_S):
            return (await fleet.ask(node, {"type": "take_fingerprint", "subject": subject})).get("fingerprint")
    except (TimeoutError, Refused):
        return None


async def describe_processes(fleet: Fleet, node: NodeName, pids: Sequence[int]) -> ProcessFacts:
    """Raises Refused if the agent is unreachable."""
    return msgspec.convert(await fleet.ask(node, {"type": "describe_processes", "pids": list(pids)}), ProcessFacts)
