"""Several SSH hosts on this machine, and the client side: an `ssh` in front of PATH with a key and a config of its own.

Every lab has a number, which gives it a network 10.213.NUMBER.0/24 and a directory. An abstract socket claims it, so
that runs and workers never share one. The kernel releases it with the process, and the next lab removes what is left.
"""

import os
import shlex
import shutil
import socket
import subprocess
from pathlib import Path

from tests.ssh.cgroups import remove
from tests.ssh.hosts import Host
from tests.ssh.namespaces import kill_left, switch

LABS = 200
ROOT = Path("/tmp")  # not tmp_path: a Unix socket in a home below it must have a short path
NAME = "tarmac-lab-"


class Lab:
    """`lab.host("gpu01")` starts a host; `lab.environment` makes this machine's `ssh gpu01` log in to it."""

    def __init__(self) -> None:
        sweep()
        self.number, self._claim = _claim_any()
        self.path = _folder(self.number)
        _remove(self.path)
        self.path.mkdir(0o755)
        self.hosts: dict[str, Host] = {}
        self._switch = switch()
        self._note(self._switch.pid)
        self._plug_in()
        self._write_client()

    @property
    def address(self) -> str:
        return f"10.213.{self.number}.1"

    @property
    def device(self) -> str:
        """The client's end of the network."""
        return f"tarmac-lab{self.number}"

    @property
    def environment(self) -> dict[str, str]:
        """With the `ssh` of this lab first, and without an agent of the developer."""
        kept = {name: value for name, value in os.environ.items() if name != "SSH_AUTH_SOCK"}
        return {**kept, "PATH": f"{self.path / 'bin'}:{kept.get('PATH', '/usr/bin:/bin')}"}

    def host(self, name: str, **options: object) -> Host:
        """Start a host. See `Host` for the options."""
        number = 10 + len(self.hosts)
        host = Host(self, name, number, **options)  # type: ignore[arg-type]
        self.hosts[name] = host
        self.write_config()
        host.start()
        return host

    def ssh(self, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
        options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "timeout": 60, **options}
        return subprocess.run(["ssh", *words], env=self.environment, **options)  # type: ignore[call-overload,no-any-return]

    def write_config(self, extra: str = "") -> None:
        """The client's config and known hosts, and /etc/hosts of every host. `extra` comes first in the config."""
        blocks = [f"Host {name}\n  HostName {host.address}\n" for name, host in self.hosts.items()]
        common = f"Host *\n  User root\n  IdentityFile {self.path / 'key'}\n  IdentitiesOnly yes\n"
        common += f"  UserKnownHostsFile {self.path / 'known_hosts'}\n  GlobalKnownHostsFile /dev/null\n"
        common += "  StrictHostKeyChecking yes\n  ConnectTimeout 10\n"
        (self.path / "config").write_text("".join([extra, *blocks, common]))
        self.write_known_hosts()
        lines = ["127.0.0.1 localhost", f"{self.address} client"]
        lines += [f"{host.address} {name}" for name, host in self.hosts.items()]
        (self.path / "hosts").write_text("\n".join(lines) + "\n")

    def write_known_hosts(self) -> None:
        """What a client knows that has logged in to every host before."""
        lines = [f"{host.address} {host.public_key}\n" for host in self.hosts.values()]
        (self.path / "known_hosts").write_text("".join(lines))

    def connect(self, host: Host) -> None:
        """A cable from a host that has just started to the switch."""
        self._note(host.pid)
        end = ("peer", "name", "eth0", "netns", str(host.pid))
        self._switch.run("ip", "link", "add", host.port, "type", "veth", *end)
        self._switch.run("ip", "link", "set", host.port, "master", "br0", "up")

    def set_port(self, host: Host, state: str) -> None:
        self._switch.run("ip", "link", "set", host.port, state)

    def set_neighbour(self, host: Host, mac: str) -> None:
        """Where this machine sends packets for the host."""
        _ip("neigh", "replace", host.address, "lladdr", mac, "dev", self.device, "nud", "permanent")

    @property
    def mac(self) -> str:
        return f"02:74:6d:00:{self.number:02x}:01"

    def close(self) -> None:
        for host in self.hosts.values():
            host.stop()
        self._switch.close()
        subprocess.run(["ip", "link", "delete", self.device], stderr=subprocess.DEVNULL)
        _remove(self.path)
        self._claim.close()

    def _plug_in(self) -> None:
        subprocess.run(["ip", "link", "delete", self.device], stderr=subprocess.DEVNULL)
        _ip("link", "add", self.device, "type", "veth", "peer", "name", "client", "netns", str(self._switch.pid))
        self._switch.run("ip", "link", "set", "client", "master", "br0", "up")
        _ip("link", "set", self.device, "address", self.mac, "up")
        _ip("address", "add", f"{self.address}/24", "dev", self.device)

    def _write_client(self) -> None:
        make_key(self.path / "key")
        self.write_config()
        script = self.path / "bin" / "ssh"
        script.parent.mkdir()
        config = shlex.quote(str(self.path / "config"))
        script.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n')
        script.chmod(0o755)

    def _note(self, pid: int) -> None:
        with (self.path / "pids").open("a") as file:
            file.write(f"{pid}\n")


def make_key(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)], check=True)


def sweep() -> None:
    """Remove what dead runs left."""
    for folder in ROOT.glob(f"{NAME}*"):
        number = folder.name.removeprefix(NAME)
        claim = _claim(int(number)) if number.isdigit() else None
        if claim is not None:
            _remove(folder)
            claim.close()


def _remove(folder: Path) -> None:
    pids = folder / "pids"
    for pid in pids.read_text().split() if pids.exists() else ():
        kill_left(int(pid), str(folder))
    remove(f"ssh-{folder.name}-")
    shutil.rmtree(folder, ignore_errors=True)


def _claim_any() -> tuple[int, socket.socket]:
    for number in range(LABS):
        if (claim := _claim(number)) is not None:
            return number, claim
    raise RuntimeError(f"{LABS} labs are in use")


def _claim(number: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0{NAME}{number}")
        return claim
    except OSError:
        claim.close()
        return None


def _folder(number: int) -> Path:
    return ROOT / f"{NAME}{number}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
