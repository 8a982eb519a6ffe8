"""Takes the fingerprints of jobs that started: a moment later, and once for all jobs with the same environment.

The start of a job does not wait for it, and a thousand short jobs cause one question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, NamedTuple, cast

if TYPE_CHECKING:
    from tarmac.agent.files.service import FileService
    from tarmac.agent.loop import Loop
    from tarmac.agent.records.attempt_key import AttemptKey
    from tarmac.shared.frames.to_agent import FingerprintSubject
    from tarmac.shared.frames.to_controller import FingerprintFrame, FingerprintTaken

_LATER_S = 0.5
_MOST_SUBJECTS = 100  # that wait; further ones are left out


class _Subject(NamedTuple):
    """The fields of a FingerprintSubject, to be compared."""

    program: str
    cwd: str
    path: str
    home: str
    python_path: str
    no_user_site: bool
    venv: str
    conda: str


class Fingerprints:
    def __init__(self, loop: Loop, files: FileService, send: Callable[[FingerprintFrame], None]) -> None:
        self._loop = loop
        self._files = files
        self._send = send
        self._waiting: Dict[_Subject, List[AttemptKey]] = {}

    def add(self, key: AttemptKey, frame: Mapping[str, Any]) -> None:
        """This attempt has been handed to a shim."""
        subject = _subject_of(frame)
        attempts = self._waiting.get(subject)
        if attempts is not None:
            attempts.append(key)
        elif len(self._waiting) < _MOST_SUBJECTS:
            if not self._waiting:
                self._loop.after(_LATER_S, self._take, "fingerprints")
            self._waiting[subject] = [key]

    def _take(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for subject, attempts in waiting.items():
            frame = cast("FingerprintSubject", subject._asdict())
            self._files.take_fingerprint(frame, _Reply(attempts, self._send))


class _Reply:
    def __init__(self, attempts: List[AttemptKey], send: Callable[[FingerprintFrame], None]) -> None:
        self._attempts = attempts
        self._send = send

    def __call__(self, taken: FingerprintTaken) -> None:
        found = taken["fingerprint"]
        if found is not None:
            attempts = [[key.job, key.attempt] for key in self._attempts]
            self._send({"type": "fingerprint", "attempts": attempts, "fingerprint": found})


def _subject_of(frame: Mapping[str, Any]) -> _Subject:
    env, options = frame["env"], frame.get("options", {})
    argv = frame.get("argv")
    return _Subject(
        program="" if frame.get("shell") is not None or not argv else argv[0],
        cwd=frame["cwd"],
        path=env.get("PATH", ""),
        home=env.get("HOME", ""),
        python_path=env.get("PYTHONPATH", ""),
        no_user_site=bool(env.get("PYTHONNOUSERSITE")),
        venv=options.get("venv") or "",
        conda=options.get("conda") or "",
    )
