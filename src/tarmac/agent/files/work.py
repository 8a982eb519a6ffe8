"""What a helper does with one request: reads a log, looks whether it has grown, checks paths, examines a failure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional

from tarmac.agent import facts, logs
from tarmac.agent.files.trail import Avoided, Trail
from tarmac.agent.log_file import size_of
from tarmac.shared.system import kernel

if TYPE_CHECKING:
    from tarmac.agent.frames import ExaminedFrame, ExamineFrame
    from tarmac.shared.frames.base import AnyFrame
    from tarmac.shared.frames.to_agent import (
        CheckEnvironmentsFrame,
        CheckPathsFrame,
        FindLinksFrame,
        FindMetricsFrame,
        TakeFingerprintFrame,
    )
    from tarmac.shared.frames.to_controller import (
        EnvironmentsCheckedFrame,
        FingerprintTaken,
        LinksFoundFrame,
        MetricsFoundFrame,
        OutputVerdict,
        PathsCheckedFrame,
    )

_FILE_EVENTS = kernel.IN_MODIFY | kernel.IN_ATTRIB | kernel.IN_MOVE_SELF
_DIRECTORY_EVENTS = kernel.IN_CREATE | kernel.IN_MOVED_TO

_OBJECTS = ("missing_objects", "add_objects", "add_object_part", "keep_objects")
_JOB_FILES = ("list_files", "read_file")


class Worker:
    """`inotify_fd` is the agent's: a watch that a helper adds reports to the agent."""

    def __init__(self, trail: Trail, inotify_fd: Optional[int], state: str) -> None:
        self._trail = trail
        self._inotify_fd = inotify_fd
        self._state = state

    def perform(self, request: AnyFrame) -> Mapping[str, Any]:
        self._trail.begin(request.pop("avoid"))
        try:
            return self._perform(request)
        except Avoided as avoided:
            return {"type": "avoided", "mount": avoided.mount}
        except (KeyError, TypeError, ValueError) as error:  # such as a null byte in a path
            return {"type": "failed", "error": str(error)}
        finally:
            self._trail.end()

    def _perform(self, request: AnyFrame) -> Mapping[str, Any]:
        kind = request["type"]
        if kind in _OBJECTS:
            return self._objects(request)
        if kind in _JOB_FILES:
            return self._job_files(request)
        performers: Dict[str, Callable[[Any], Mapping[str, Any]]] = {
            "check_paths": self._check_paths,
            "check_environments": self._check_environments,
            "find_metrics": self._find_metrics,
            "take_fingerprint": self._take_fingerprint,
            "find_links": self._find_links,
            "examine": self._examine,
            "list_checkouts": self._look_after,
            "tidy_checkouts": self._look_after,
            "list_logs": self._look_after,
            "remove_logs": self._look_after,
        }
        if kind in performers:
            return performers[kind](request)
        self._trail.follow(request["path"])
        if kind == "read_log":
            return logs.read_log(request)  # type: ignore[arg-type]
        if kind == "tail_log":
            return logs.find_tail(request)  # type: ignore[arg-type]
        return self._look_at(request["path"])

    def _find_metrics(self, request: FindMetricsFrame) -> MetricsFoundFrame:
        from tarmac.agent.files.metrics import find_metrics  # few controllers ask for it

        return find_metrics(request, self._reach)

    def _find_links(self, request: FindLinksFrame) -> LinksFoundFrame:
        from tarmac.agent.files.links import find_links

        return find_links(request, self._reach)

    def _reach(self, path: str) -> None:
        """Walk to the file. A long search in it must not look like a file system that hangs."""
        try:
            self._trail.follow(path)
        except Avoided as avoided:
            raise OSError(f"{avoided.mount} does not answer") from None
        self._trail.end()

    def _examine(self, request: ExamineFrame) -> ExaminedFrame:
        from tarmac.agent.outcome.examination import examine  # its patterns take a while; most jobs do not fail

        for path in [request["cwd"], *(place["path"] for place in request["outputs"])]:
            self._trail.follow(path)
        return examine(request)

    def _check_environments(self, request: CheckEnvironmentsFrame) -> EnvironmentsCheckedFrame:
        from tarmac.agent.environments.check import check  # few jobs name an environment

        return check(request, self._trail.follow)

    def _look_after(self, request: AnyFrame) -> Mapping[str, Any]:
        """Logs and checkouts of ended jobs."""
        if request["type"] in ("list_logs", "remove_logs"):
            return self._logs(request)
        from tarmac.agent.files.checkouts import list_checkouts, tidy_checkouts  # loads sqlite3

        if request["type"] == "list_checkouts":
            self._trail.follow(request["directory"])
            self._trail.end()
            return list_checkouts(request)  # type: ignore[arg-type]
        for path in [*request["remove"], *(entry["checkout"] for entry in request["prune"])]:
            self._trail.follow(path)
        self._trail.end()  # thousands of files take long on a healthy mount, too: others still get their answers
        return tidy_checkouts(request)  # type: ignore[arg-type]

    def _logs(self, request: AnyFrame) -> Mapping[str, Any]:
        from tarmac.agent.files.job_logs import list_logs, remove_logs

        perform = list_logs if request["type"] == "list_logs" else remove_logs
        return perform(request, self._state)  # type: ignore[arg-type]

    def _objects(self, request: AnyFrame) -> Mapping[str, Any]:
        from tarmac.agent.files import objects  # loads sqlite3

        self._trail.follow(request["objects"])
        self._trail.end()  # a large file takes long on a healthy mount, too
        perform: Callable[[Any], Mapping[str, Any]] = getattr(objects, request["type"])
        return perform(request)

    def _job_files(self, request: AnyFrame) -> Mapping[str, Any]:
        from tarmac.agent.files import job_files

        self._trail.follow(os.path.join(request["directory"], request["name"]))
        perform: Callable[[Any], Mapping[str, Any]] = getattr(job_files, request["type"])
        return perform(request)

    def _take_fingerprint(self, request: TakeFingerprintFrame) -> FingerprintTaken:
        from tarmac.agent.environments.fingerprint import take_fingerprint

        found = take_fingerprint(request["subject"], self._trail.follow)
        return {"type": "fingerprint_taken", "ref": request.get("ref"), "fingerprint": found}

    def _look_at(self, path: str) -> Mapping[str, Any]:
        """Watch first, so that no change in between is missed."""
        return {"type": "looked", "watch": self._watch(path), "size": size_of(path)}

    def _watch(self, path: str) -> Optional[int]:
        """None if the directory is missing, too, or the user has no inotify watches left."""
        if self._inotify_fd is None:
            return None
        try:
            try:
                return kernel.inotify_add_watch(self._inotify_fd, path, _FILE_EVENTS)
            except FileNotFoundError:
                return kernel.inotify_add_watch(self._inotify_fd, os.path.dirname(path), _DIRECTORY_EVENTS)
        except OSError:
            return None

    def _check_paths(self, request: CheckPathsFrame) -> PathsCheckedFrame:
        """Paths that lead to a mount that hangs are not checked, all others are."""
        asked = (request["directories"], request["outputs"], request.get("present", []), request.get("programs", []))
        directories, outputs, present, programs = (
            [path for path in some if self._is_reachable(path)] for some in asked
        )
        answer = facts.check_paths(
            {**request, "directories": directories, "outputs": outputs, "present": present, "programs": programs},
            self._state,
        )
        verdicts: Dict[str, OutputVerdict] = dict(zip(outputs, answer["outputs"]))
        identities: Dict[str, Optional[List[str]]] = dict(zip(outputs, answer["identities"]))
        answer["directories"] = _in_order(request["directories"], directories, answer["directories"])
        answer["present"] = _in_order(request.get("present", []), present, answer["present"])
        answer["programs"] = _in_order(request.get("programs", []), programs, answer["programs"])
        answer["outputs"] = [verdicts.get(path, "silent") for path in request["outputs"]]
        answer["identities"] = [identities.get(path) for path in request["outputs"]]
        return answer

    def _is_reachable(self, path: str) -> bool:
        try:
            self._trail.follow(path)
        except Avoided:
            return False
        return True


def _in_order(asked: List[str], checked: List[str], found: List[Optional[bool]]) -> List[Optional[bool]]:
    """Null for those that could not be checked."""
    known = dict(zip(checked, found))
    return [known.get(path) for path in asked]
