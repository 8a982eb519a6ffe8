"""The client for GPUs, settings, the queue and the controller."""

from __future__ import annotations

from tarmac.client.connection import Link, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, Unpack

    from tarmac.client.answers import (
        GoneNode,
        Node,
        NodeChanges,
        NodeOptions,
        Notice,
        NotifyOverview,
        NotifyTarget,
        NotifyTest,
        PageLink,
        Queue,
        Report,
        Reservation,
        Status,
    )  # fmt: skip
    from tarmac.client.records import Event, Gpu, GpuOverview, Setting

LOGS_S = 3600.0  # to copy the logs of a node
NODE_S = 120.0  # to connect to a machine, to send the agent there and to start it
TEST_S = 75.0  # a server that does not answer is given up within this long


class Admin(Link):
    """What the client can do with GPUs, settings, the queue and the controller."""

    def gpus(self) -> list[Gpu]:
        """All GPUs, with the jobs and processes on them."""
        from tarmac.client.records import Gpu

        return [Gpu(gpu) for gpu in self.call("GET", "/gpus")["gpus"]]

    def gpus_error(self) -> str | None:
        """Why GPUs cannot be read; None if they can."""
        error: str | None = self.call("GET", "/gpus").get("error")
        return error

    def gpu_overview(self) -> GpuOverview:
        """All GPUs, every configured node, connected or not, and the notice of the admins."""
        from tarmac.client.records import Gpu, GpuOverview

        answer = self.call("GET", "/gpus")
        return GpuOverview([Gpu(gpu) for gpu in answer["gpus"]], answer.get("nodes", []), answer.get("notice"))

    def nodes(self) -> list[Node]:
        """Every node, the controller's own machine first."""
        nodes: list[Node] = self.call("GET", "/nodes")["nodes"]
        return nodes

    def node(self, name: str) -> Node:
        """One node."""
        node: Node = self.call("GET", f"/nodes/{quoted(name)}")
        return node

    def drain_node(self, name: str, reason: str | None = None) -> Node:
        """Start no more jobs on the node; running jobs continue."""
        node: Node = self.call("POST", f"/nodes/{quoted(name)}/drain", body={"reason": reason})
        return node

    def resume_node(self, name: str) -> Node:
        """Let jobs start on the node again, whether a person or Tarmac drained it."""
        node: Node = self.call("POST", f"/nodes/{quoted(name)}/resume", body={})
        return node

    def page_link(self, port: int | None = None) -> PageLink:
        """An address that opens the page in a browser on this machine and logs it in, once."""
        link: PageLink = self.call("POST", "/page/links", body={"port": port})
        return link

    def log_out_of_page(self) -> None:
        """End all sessions of this user in browsers."""
        self.call("POST", "/page/logout", body={})

    def add_node(self, name: str, host: str | None = None, **options: Unpack[NodeOptions]) -> Node:
        """Add a machine that `ssh` reaches. Without `host`, its name is the host.

        Its agent is started there first. `later`: add it although it cannot be reached now.
        """
        body = {"name": name, "host": host or name, **options}
        added: Node = self.call("POST", "/nodes", body=body, within_s=NODE_S, waits_s=NODE_S)
        return added

    def change_node(self, name: str, **changes: Unpack[NodeChanges]) -> Node:
        """Change how a node is reached, or what it is used for."""
        changed: Node = self.call("PATCH", f"/nodes/{quoted(name)}", body=changes)
        return changed

    def remove_node(self, name: str) -> GoneNode:
        """Remove a node without running jobs. The logs of its ended jobs are copied to this machine first."""
        gone: GoneNode = self.call("DELETE", f"/nodes/{quoted(name)}", within_s=LOGS_S, waits_s=LOGS_S)
        return gone

    def forget_node(self, name: str) -> GoneNode:
        """Remove a node that is gone for good. Its jobs become `unknown`."""
        gone: GoneNode = self.call("POST", f"/nodes/{quoted(name)}/forget", body={})
        return gone

    def try_node(self, name: str) -> Node:
        """Try at once to reach a node that is away."""
        tried: Node = self.call("POST", f"/nodes/{quoted(name)}/try", body={})
        return tried

    def drain(self, *gpus: int | str, reason: str | None = None) -> list[str]:
        """Start no more jobs on these GPUs (indices or UUIDs); running jobs continue. Returns their UUIDs."""
        return self._of_gpus("drain", gpus, reason=reason)

    def resume(self, *gpus: int | str) -> list[str]:
        """Use drained GPUs again."""
        return self._of_gpus("resume", gpus)

    def forget(self, *gpus: int | str) -> list[str]:
        """Remove GPUs that are gone from the list; the word "gone" means all of them that no job holds."""
        return self._of_gpus("forget", gpus)

    def slots(self, *gpus: int | str, slots: int) -> list[str]:
        """Let this many jobs use each of these GPUs at once, if they don't request memory or a share."""
        return self._of_gpus("slots", gpus, slots=slots)

    def ignored(self) -> list[dict[str, Any]]:
        """The programs and pids that do not count on GPUs, each with its origin: default, config or user."""
        ignored: list[dict[str, Any]] = self.call("GET", "/gpus/ignore")["ignored"]
        return ignored

    def ignore_process(
        self, process: int | str, *, forget: bool = False, off: bool = False, node: str | None = None
    ) -> list[Any]:
        """Ignore a foreign process (a pid or a program), so that its GPU counts as free.

        `forget` undoes it; `off` counts a program that is ignored by default. Returns the programs, or the pids, that
        are ignored now.
        """
        which = {"pid": process} if isinstance(process, int) else {"command": process}
        body = {**which, "forget": forget, **({"off": True} if off else {}), **({} if node is None else {"node": node})}
        ignored: list[Any] = self.call("POST", "/gpus/ignore", body=body)["ignored"]
        return ignored

    def _of_gpus(self, act: str, gpus: Sequence[int | str], **more: object) -> list[str]:
        body = {"gpus": [str(gpu) for gpu in gpus], **more}
        uuids: list[str] = self.call("POST", f"/gpus/{act}", body=body).get("gpus", [])
        return uuids

    def report(
        self,
        by: str = "owner",
        *,
        since: float | None = None,
        until: float | None = None,
        owner: str | None = None,
        project: str | None = None,
    ) -> Report:
        """The GPU time that jobs held and used, by "owner", "project", "gpu" or "day", between two moments.

        The moments are seconds since 1970; whole days are counted. The default is the last 30 days. `owner` and
        `project` select the jobs of one; an empty project, those without one.
        """
        query = {"by": by, "since": since, "until": until, "owner": owner, "project": project}
        report: Report = self.call("GET", "/report", query=query)
        return report

    def metrics(self) -> str:
        """Metrics in the text format of Prometheus."""
        response = self.stream("/metrics")
        try:
            return response.read().decode("utf-8")
        finally:
            response.close()

    def settings(self) -> list[Setting]:
        """All settings, with their values and defaults."""
        from tarmac.client.records import Setting

        return [Setting(setting) for setting in self.call("GET", "/settings")["settings"]]

    def setting(self, name: str) -> Setting:
        """One setting, with its value and default."""
        from tarmac.client.records import Setting

        return Setting(self.call("GET", f"/settings/{quoted(name)}"))

    def set(self, name: str, value: object) -> Setting:
        """Change a setting, at once and permanently. The value may be as typed: "8G", "30m", "20%"."""
        from tarmac.client.records import Setting

        text = str(value).lower() if isinstance(value, bool) else str(value)
        return Setting(self.call("PUT", f"/settings/{quoted(name)}", body={"value": text}))

    def reset(self, name: str) -> Setting:
        """Return to the value of the config file, or to the default."""
        from tarmac.client.records import Setting

        return Setting(self.call("DELETE", f"/settings/{quoted(name)}"))

    def queue(self) -> Queue:
        """The state of the whole queue: whether it is paused or draining, by whom and why, and how many jobs wait."""
        queue: Queue = self.call("GET", "/queue")
        return queue

    def pause_queue(self, reason: str | None = None) -> Queue:
        """Start no more jobs; running jobs continue."""
        queue: Queue = self.call("POST", "/queue/pause", body={"reason": reason})
        return queue

    def drain_queue(self, reason: str | None = None) -> Queue:
        """Accept no more jobs; waiting and running jobs continue."""
        queue: Queue = self.call("POST", "/queue/drain", body={"reason": reason})
        return queue

    def resume_queue(self, owner: str | None = None) -> Queue:
        """Accept and start jobs again. With `owner`: let this user's suspended jobs start again, and nothing else."""
        queue: Queue = self.call("POST", "/queue/resume", body={} if owner is None else {"owner": owner})
        return queue

    def stop_queue(self, *, grace_s: float | None = None) -> list[int]:
        """Pause the queue and requeue every running job. Returns the jobs that were asked to stop."""
        stopping: list[int] = self.call("POST", "/queue/stop", body={"requeue": True, "grace_s": grace_s})["stopping"]
        return stopping

    def notify_targets(self) -> list[NotifyTarget]:
        """The targets of notifications that you can use, with masked URLs, and what waits for each."""
        return self.notify_overview()["targets"]

    def notify_overview(self) -> NotifyOverview:
        """The targets as above, and whether apprise, which sends the messages, is installed."""
        found: NotifyOverview = self.call("GET", "/notify")
        return found

    def notify_test(self, *targets: str) -> list[NotifyTest]:
        """Send a message to each of these targets; returns what went wrong. Takes up to a minute."""
        answer = self.call("POST", "/notify/test", body={"targets": targets}, within_s=TEST_S + 30, waits_s=TEST_S)
        results: list[NotifyTest] = answer["results"]
        return results

    def notice(self) -> Notice | None:
        """The notice of the admins to all users, or None."""
        notice: Notice | None = self.call("GET", "/notice")["notice"]
        return notice

    def set_notice(self, text: str) -> None:
        """Show a notice to all users, above `tarmac ls` and `tarmac gpus`."""
        self.call("PUT", "/notice", body={"text": text})

    def clear_notice(self) -> None:
        """Remove the notice."""
        self.call("DELETE", "/notice")

    def reservations(self) -> list[Reservation]:
        """All reservations, by begin."""
        reservations: list[Reservation] = self.call("GET", "/reservations")["reservations"]
        return reservations

    def reserve(self, gpus: int, *, begins_at: float, for_s: float, user: str | None = None) -> Reservation:
        """Reserve GPUs for a user's jobs, from `begins_at` (seconds since 1970) on."""
        body = {"gpus": gpus, "from": begins_at, "for_s": for_s, "user": user}
        reservation: Reservation = self.call("POST", "/reservations", body=body)
        return reservation

    def end_reservation(self, reservation: int) -> None:
        """End a reservation."""
        self.call("POST", f"/reservations/{reservation}/end", body={})

    def status(self) -> Status:
        """The state of Tarmac itself: its processes, version, home and problems."""
        status: Status = self.call("GET", "/status")
        return status

    def events(self, jobs: Iterable[int] | None = None) -> Iterator[Event]:
        """Every change from now on, even if the controller restarts."""
        from tarmac.client.follow import events

        return events(self, jobs)

    def stop(self, *, agent: bool = True) -> int:
        """Stop the controller, and the agent. Running jobs continue.

        Returns how many jobs are still being stopped; the agent ends when they have ended.
        """
        stopping: int = self.call("POST", "/stop", body={"agent": agent}).get("stopping", 0)
        return stopping
