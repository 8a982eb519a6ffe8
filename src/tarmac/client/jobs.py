"""Requests about jobs: submit, find, wait, read output, stop and remove."""

from __future__ import annotations

import os

from tarmac.client.connection import Link
from tarmac.errors import NotFound, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Unpack

    from tarmac.client.answers import GpuRef, Killed, PackageChange, Retried, StoryEvent, Variable, Why
    from tarmac.client.records import Job
    from tarmac.client.requests import Environment, GroupRequest, JobOptions, JobRequest

    Id = int | str | Job  # 7, "3-7", "last", "all", or what `submit` returned


PAGE = 2000  # jobs in one answer: large enough to be quick, small enough not to delay other clients


class Jobs(Link):
    """What the client can do with jobs."""

    def submit(
        self,
        command: Sequence[str] | str,
        *,
        environment: Environment | None = None,
        umask: int | None = None,
        token: str | None = None,
        entry: str = "queued",
        on_hint: Callable[[str], object] | None = None,
        **options: Unpack[JobOptions],
    ) -> Job:
        """Queue one job: an argv, or a string for the shell, with the caller's directory, umask and environment.

        The options are those of `tarmac add`: gpus=2, name="big", gpu_memory_bytes=8 << 30, log="out.log", …
        With `entry`, it starts as "held" or "draft". `on_hint` is called with each sentence for the submitter.
        """
        request: JobRequest = {**options, "command": command}  # type: ignore[typeddict-item]
        ids = self.submit_many(
            [request], environment=environment, umask=umask, token=token, entry=entry, on_hint=on_hint
        )
        return self.job(ids[0])

    def submit_many(
        self,
        requests: Iterable[JobRequest],
        *,
        environment: Environment | None = None,
        umask: int | None = None,
        token: str | None = None,
        group: GroupRequest | None = None,
        entry: str = "queued",
        dry_run: bool = False,
        on_hint: Callable[[str], object] | None = None,
    ) -> list[int]:
        """Queue all jobs or none; returns once they are on disk. Repeating the same token returns the same jobs.

        `group`: the jobs form an array, a sweep or a batch: {"kind": "sweep", "name": "first"}. With {"kind": "array",
        "indices": "0-99"}, the one job is queued once for each index. `entry`: "queued", "held" or "draft".
        `dry_run`: only check the jobs; the answer is empty.
        `on_hint` is called with each sentence for the submitter, such as what the last runs took.
        """
        from tarmac.client.requests import submission, submitted

        body = submission(requests, environment, umask, token or os.urandom(16).hex(), self.remote)
        body |= {"group": group} if group is not None else {}
        body |= {"entry": entry} if entry != "queued" else {}
        body |= {"dry_run": True} if dry_run else {}
        answer = submitted(self, body, on_hint)
        if on_hint is not None:
            for hint in answer.get("hints", ()):
                on_hint(hint)
        ids: list[int] = answer["ids"]
        return ids

    def job(self, job: Id) -> Job:
        """The job as it is now."""
        from tarmac.client.records import Job

        return Job(self.call("GET", f"/jobs/{self.number_of(job)}"))

    def number_of(self, job: Id) -> int:
        """The id of a job given as, for example, `last`."""
        word = word_of(job)
        if word.isdecimal():
            return int(word)
        numbers = [found["id"] for page in self.pages({"ids": word, "fields": "id"}, 2) for found in page]
        if len(numbers) != 1:
            raise UserError(f"{word!r} is not one job", "give one id, such as 7 or `last`")
        return int(numbers[0])

    def jobs(
        self,
        ids: Iterable[Id] | str | None = None,
        *,
        state: str | None = None,
        owner: str | None = None,
        name: str | None = None,
        tag: str | None = None,
        group: str | None = None,
        node: str | None = None,
        alone: bool = False,
        newest_first: bool = False,
        fields: Iterable[str] | str = (),
        limit: int | None = None,
    ) -> Iterator[Job]:
        """The matching jobs, page by page, at most `limit`. `state`: one or more with commas,
        also `waiting`, `active` or `ended`. `alone`: only jobs that are not part of a group.
        If none matches, it yields nothing."""
        from tarmac.client.records import Job

        words = ids if ids is None or isinstance(ids, str) else map(word_of, ids)
        query = {"ids": _joined(words), "state": state, "owner": owner, "name": name, "tag": tag, "group": group}
        query |= {"node": node} if node is not None else {}
        query |= {"alone": "true"} if alone else {}
        query |= {"order": "desc" if newest_first else "asc", "fields": _joined(fields)}
        for page in self.pages(query, limit):
            yield from map(Job, page)

    def history(self, *, limit: int | None = None, **filters: str | float | None) -> Iterator[Job]:
        """Ended jobs, the newest first, at most `limit`.

        Filters: search, state, owner, project, tag, name, and since, until: seconds since 1970, of their ends.
        """
        from tarmac.client.history.history import pages
        from tarmac.client.records import Job

        for page in pages(self, filters, limit):
            yield from map(Job, page)

    def pages(
        self, query: Mapping[str, object], limit: int | None = None, size: int = PAGE
    ) -> Iterator[list[dict[str, Any]]]:
        """The raw pages of a listing, at most `limit` jobs in all."""
        after, left = None, limit
        while left is None or left > 0:
            most = size if left is None else min(left, size)
            answer = self.call("GET", "/jobs", query={**query, "limit": most, "after": after})
            yield answer["jobs"]
            after = answer.get("next")
            left = None if left is None else left - len(answer["jobs"])
            if after is None:
                return

    def wait(self, ids: Iterable[Id] | Id, timeout_s: float | None = None) -> list[Job]:
        """Wait until all jobs have ended; returns them by id. Raises TimeoutError after `timeout_s`."""
        from tarmac.client.follow import ended_jobs, resolved
        from tarmac.client.records import Job

        words = [word_of(job) for job in ([ids] if isinstance(ids, (int, str, Job)) else ids)]
        are_numbers = all(map(str.isdecimal, words))
        numbers = [int(word) for word in words] if are_numbers else resolved(self, {"ids": ",".join(words)})
        if not numbers and words and "all" not in words:
            raise NotFound("no matching jobs", "give ids of jobs that exist")
        return list(ended_jobs(self, numbers, timeout_s))

    def logs(
        self,
        job: Id,
        *,
        follow: bool = False,
        lines: int | None = None,
        offset: int = 0,
        stream: str = "stdout",
        attempt: int | None = None,
        from_attempt: int | None = None,
        error: bool = False,
        since_s: float | None = None,
        node: str | None = None,
        on_cut: Callable[[], None] | None = None,
        on_begin: Callable[[Mapping[str, str]], None] | None = None,
        on_notice: Callable[[str], None] | None = None,
        on_attempt: Callable[[int], None] | None = None,
        ends_lines: bool = False,
    ) -> Iterator[bytes]:
        """The output, byte for byte, or its last lines; with `follow`, until the job has ended.

        Without `attempt`, it is the newest attempt, and `follow` continues with the next one. A follower can begin
        with an earlier one: `from_attempt`.
        `on_cut` is called if the last lines are too long and their beginning is missing. `on_begin` is called with the
        headers of the answer: `tarmac-log-attempt`, `tarmac-log-path` and `tarmac-log-offset`.
        `on_notice` of a follower is called with why the job may not start or end for a while, `on_attempt` with the
        number of each attempt after the first. `ends_lines`: add a newline between attempts if the last line lacks it.
        `error`: from the last traceback, or the first error line, on. `since_s`: what was written in the last seconds,
        or somewhat more. `node`: of a job on several nodes, the node whose output it is; by default the first.
        """
        from tarmac.client.follow import log_bytes

        return log_bytes(
            self,
            self.number_of(job),
            follow=follow,
            lines=lines,
            offset=offset,
            stream=stream,
            attempt=attempt,
            from_attempt=from_attempt,
            error=error,
            since_s=since_s,
            node=node,
            on_cut=on_cut,
            on_begin=on_begin,
            on_notice=on_notice,
            on_attempt=on_attempt,
            ends_lines=ends_lines,
        )

    def kill(self, *ids: Id, grace_s: float | None = None, **filters: str | None) -> Killed:
        """Ask jobs to stop, without waiting for it. Returns the jobs that were asked, and those that had ended.

        Raises NotFound if a filter matches nothing, like the other methods that take filters.
        """
        answer: Killed = self.change("/jobs/kill", {**selection(ids, filters), "grace_s": grace_s})
        return answer

    def rm(self, *ids: Id, **filters: str | None) -> list[int]:
        """Remove jobs that have ended."""
        removed: list[int] = self.change("/jobs/rm", selection(ids, filters))["removed"]
        return removed

    def clean(self, **wanted: str | float | bool | None) -> int:
        """Remove your ended jobs, and their logs. Returns how many.

        `before`: those that ended earlier, in seconds since 1970. `state`, `owner` (for admins), `all_owners`; `keep`:
        not the newest ones.
        """
        from tarmac.client.history.history import clean

        return sum(clean(self, wanted))

    def hold(self, *ids: Id, **filters: str | None) -> dict[str, list[int]]:
        """Keep waiting jobs from starting. Returns the held jobs and those that were not waiting."""
        answer: dict[str, list[int]] = self.change("/jobs/hold", selection(ids, filters))
        return answer

    def release(self, *ids: Id, **filters: str | None) -> dict[str, list[int]]:
        """Release held jobs and drafts into the queue. Returns the released jobs and those that were not held."""
        answer: dict[str, list[int]] = self.change("/jobs/release", selection(ids, filters))
        return answer

    def pause_jobs(self, *ids: Id, count_paused: bool = False, **filters: str | None) -> dict[str, list[Any]]:
        """Freeze running jobs, which keep their GPUs. Returns the paused jobs, and the others with their states.

        `count_paused`: the pause counts against their time limits.
        """
        body = {**selection(ids, filters), "count_paused": count_paused}
        answer: dict[str, list[Any]] = self.call("POST", "/jobs/pause", body=body)
        return answer

    def resume_jobs(self, *ids: Id, **filters: str | None) -> dict[str, list[Any]]:
        """Let paused jobs go on. Returns the resumed jobs, and the others with their states."""
        answer: dict[str, list[Any]] = self.call("POST", "/jobs/resume", body=selection(ids, filters))
        return answer

    def retry(self, *ids: Id, failed: bool = False, **filters: str | None) -> Retried:
        """Run ended jobs again, each as the next attempt of the same job. `failed`: those of the caller that failed.

        Returns the jobs that are queued again, those that cannot be, and why they may not start for a while.
        """
        body = {**selection(ids, filters), **({"failed": True} if failed else {})}
        answer: Retried = self.change("/jobs/retry", body)
        return answer

    def move(self, job: Id, position: int) -> dict[str, int]:
        """Move a job to another place among its owner's waiting jobs, from 1. Returns its new position and priority."""
        answer: dict[str, int] = self.call("POST", f"/jobs/{self.number_of(job)}/move", body={"position": position})
        return answer

    def move_many(self, *ids: Id, position: int, **filters: str | None) -> dict[str, list[Any]]:
        """Move waiting jobs to this place and the following ones, in their order.

        Returns the moved jobs, each with its new position and priority, and those that were not waiting.
        """
        body = {**selection(ids, filters), "position": position}
        answer: dict[str, list[Any]] = self.call("POST", "/jobs/move", body=body)
        return answer

    def edit(self, job: Id, **changes: object) -> Job:
        """Change options of a waiting job, such as priority=1 or retries=3. None clears an option.

        docs/api.md lists the options that can be edited.
        """
        from tarmac.client.records import Job

        return Job(self.call("PATCH", f"/jobs/{self.number_of(job)}", body=changes))

    def edit_many(
        self,
        ids: Iterable[Id],
        *,
        state: str | None = None,
        owner: str | None = None,
        group: str | None = None,
        **changes: object,
    ) -> dict[str, list[int]]:
        """Edit all of these jobs that wait, or none. Returns the edited jobs and those that were not waiting."""
        body = {**selection(ids, {"state": state, "owner": owner, "group": group}), "changes": changes}
        answer: dict[str, list[int]] = self.change("/jobs/edit", body)
        return answer

    def start_now(self, job: Id, *, gpus_on: Iterable[int | str] | None = None, yes: bool = False) -> list[GpuRef]:
        """Start a waiting job ahead of its turn. `yes`: also on a GPU that another job uses exclusively."""
        body = {"gpus_on": None if gpus_on is None else list(gpus_on), "yes": yes}
        gpus: list[GpuRef] = self.call("POST", f"/jobs/{self.number_of(job)}/start", body=body)["gpus"]
        return gpus

    def why(self, job: Id) -> Why:
        """Why it does not run yet: place, reasons, GPUs, estimated start; `lines` contains sentences."""
        why: Why = self.call("GET", f"/jobs/{self.number_of(job)}/why")
        return why

    def story(self, job: Id) -> list[StoryEvent]:
        """The history of the job, oldest event first."""
        events: list[StoryEvent] = self.call("GET", f"/jobs/{self.number_of(job)}/events")["events"]
        return events

    def environment(self, job: Id) -> list[Variable]:
        """The variables that the job was submitted with, without the values of secrets."""
        return self.call("GET", f"/jobs/{self.number_of(job)}/environment")["variables"]  # type: ignore[no-any-return]

    def python_changes(self, job: Id) -> list[PackageChange]:
        """How the Python and the packages of the job changed since it ran."""
        return self.call("GET", f"/jobs/{self.number_of(job)}/python")["changes"]  # type: ignore[no-any-return]

    def adopt(
        self, pid: int, *, gpus: Iterable[int] | None = None, name: str | None = None, node: str | None = None
    ) -> Job:
        """Adopt a running process of the caller as a job that is watched until it ends."""
        body = {"pid": pid, "gpus": None if gpus is None else list(gpus), "name": name}
        body |= {} if node is None else {"node": node}
        return self.job(self.call("POST", "/adopt", body=body)["id"])


def word_of(job: Id) -> str:
    """How a request names a job."""
    number = getattr(job, "id", job)
    if isinstance(number, (int, str)):
        return str(number)
    raise UserError(f"{job!r} is not a job", "give each job on its own, as an id such as 7, or unpack a list: *ids")


def selection(ids: Iterable[Id], filters: Mapping[str, str | None]) -> dict[str, Any]:
    """The body that selects jobs by ids and by name, tag, state, owner."""
    return {"ids": list(map(word_of, ids)), **{name: value for name, value in filters.items() if value is not None}}


def _joined(values: Iterable[object] | None) -> str | None:
    if values is None or isinstance(values, str):
        return values or None
    return ",".join(map(str, values)) or None
