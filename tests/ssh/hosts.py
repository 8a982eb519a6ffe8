"""A host with a real `sshd`: separate processes, network, host name, accounts, homes, /tmp and boot id.

It uses the programs of this machine. Every account has its home below the directory of the lab, so that no path of one
host exists on another.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from tests.home import until
from tests.ssh import cgroups
from tests.ssh.namespaces import Namespace, computer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.ssh.lab import Lab

REPOSITORY = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
UIDS = {"root": 0, "alice": 2001, "bob": 2002, "carol": 2003}
FRESH = ["/run", "/tmp", "/dev/shm"]
PASSWORD = "open sesame"
# As `openssl passwd -6` prints it.
HASHED = "$6$tarmac$sERmdjiIsgROjGWHWBjLyFPJfZIQ/SiHNJUNh3L/Kgpgbb84sEAli.M5VxZy9LoztwFR.5rvBDIyWseVSJry01"
NOBODY_THERE = "02:74:6d:ff:ff:ff"  # packets for it are dropped by all

SSHD_CONFIG = """\
ListenAddress 0.0.0.0
HostKey {folder}/host_key
PidFile /run/sshd.pid
AuthorizedKeysFile {lab}/key.pub
StrictModes no
UsePAM no
UseDNS no
PermitRootLogin yes
PasswordAuthentication {password}
KbdInteractiveAuthentication no
MaxStartups 200
MaxSessions 100
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
SetEnv {environment}
"""


class Host:
    """`gpus`: simulated ones. `path`: the PATH of a login. `environment`: further variables of every login.

    `refused`: an account that the client's key does not open. `visible`: further directories of this machine.
    `has_password`: PASSWORD opens every account; otherwise only the key of the lab does.
    """

    def __init__(
        self,
        lab: Lab,
        name: str,
        number: int,
        *,
        gpus: str = "2x24G",
        path: str = "/usr/bin:/bin",
        environment: dict[str, str] | None = None,
        refused: str | None = None,
        visible: Sequence[Path] = (),
        has_password: bool = False,
    ) -> None:
        from tests.ssh.lab import make_key

        self.lab, self.name, self.number = lab, name, number
        self.folder = lab.path / name
        self.folder.mkdir()
        self.boot_id = ""
        self._shells: dict[str, str] = dict.fromkeys(UIDS, "/bin/bash")
        self._namespace: Namespace | None = None
        self._password = HASHED if has_password else "*"
        make_key(self.folder / "host_key")
        settings = {"PATH": path, "TARMAC_FAKE_GPUS": gpus, **(environment or {})}
        text = SSHD_CONFIG.format(
            folder=self.folder,
            lab=lab.path,
            password="yes" if has_password else "no",
            environment=" ".join(f'"{key}={value}"' for key, value in settings.items()),
        )
        text += "" if refused is None else f"Match User {refused}\nAuthorizedKeysFile none\n"
        self._visible = tuple(visible)
        (self.folder / "sshd_config").write_text(text)
        (self.folder / "var-tmp").mkdir()
        (self.folder / "var-tmp").chmod(0o1777)
        for user, uid in UIDS.items():
            self.home(user).mkdir()
            self.home(user).chmod(0o700)
            os.chown(self.home(user), uid, uid)
        self._write_accounts()

    @property
    def address(self) -> str:
        return f"10.213.{self.lab.number}.{self.number}"

    @property
    def port(self) -> str:
        """The name of its port of the switch."""
        return f"host{self.number}"

    @property
    def mac(self) -> str:
        return f"02:74:6d:01:{self.lab.number:02x}:{self.number:02x}"

    @property
    def public_key(self) -> str:
        return (self.folder / "host_key.pub").read_text().strip()

    @property
    def pid(self) -> int:
        """Its first process."""
        return self._running.pid

    @property
    def log(self) -> str:
        """What its sshd wrote."""
        return (self.folder / "sshd.log").read_text()

    def home(self, user: str = "root") -> Path:
        return self.folder / user

    def start(self) -> None:
        """Boot: a new boot id, an empty /tmp, a cable, and sshd."""
        self.boot_id = str(uuid.uuid4())
        (self.folder / "boot_id").write_text(self.boot_id + "\n")
        self._namespace = computer(json.dumps(self._plan()), cgroups.create(self._cgroup))
        self.lab.connect(self)
        for command in (
            ("link", "set", "lo", "up"),
            ("link", "set", "eth0", "address", self.mac, "up"),
            ("address", "add", f"{self.address}/24", "dev", "eth0"),
        ):
            self._running.run("ip", *command)
        self.heal()
        self.start_sshd()

    def stop(self) -> None:
        """Kill all its processes at once, as a power failure does."""
        if self._namespace is not None:
            self._namespace.close()
            self._namespace = None
            cgroups.remove(self._cgroup)

    def reboot(self) -> None:
        self.stop()
        self.start()

    def start_sshd(self) -> None:
        """Returns once it accepts connections, also if the host is cut off."""
        folder = self.folder
        self._running.run("/usr/sbin/sshd", "-f", f"{folder}/sshd_config", "-E", f"{folder}/sshd.log")
        assert until(lambda: "Server listening" in self.log), self.log

    def kill_sshd(self) -> None:
        """Kill the daemon and every connection. Detached processes of users stay."""
        (self.folder / "sshd.log").write_text("")

        def left() -> list[int]:
            return [pid for pid, command in self.processes().items() if command.startswith(("sshd:", "/usr/sbin/sshd"))]

        while pids := left():
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def processes(self) -> dict[int, str]:
        """Its processes but the first: their command lines by pid, as seen from the test."""
        return self._running.processes()

    def run(self, *words: str, user: str = "root", **options: object) -> subprocess.CompletedProcess[str]:
        """Run a command there without SSH, with the environment of a fresh login."""
        uid = str(UIDS[user])
        become = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"] if user != "root" else []
        clean = ["env", "-i", f"--chdir={self.home(user)}", f"HOME={self.home(user)}", "PATH=/usr/bin:/bin"]
        return self._running.run(*become, *clean, *words, **options)

    def cut(self, direction: str = "both") -> None:
        """Drop all packets silently: `both`, only those `to` the host, or only those `from` it to the client."""
        assert direction in {"both", "to", "from"}
        if direction == "both":
            self.lab.set_port(self, "down")
        elif direction == "to":
            self.lab.set_neighbour(self, NOBODY_THERE)
        else:
            self._set_client_mac(NOBODY_THERE)

    def heal(self) -> None:
        self.lab.set_port(self, "up")
        self.lab.set_neighbour(self, self.mac)
        self._set_client_mac(self.lab.mac)

    def shell(self, name: str, user: str = "root") -> None:
        """Choose the login shell: bash, sh, tcsh, fish."""
        found = shutil.which(name, path="/usr/bin:/bin")
        assert found is not None, f"{name} is not installed"
        self._shells[user] = found
        self._write_accounts()

    def write_rc(self, name: str, text: str, user: str = "root") -> Path:
        """Write a file of the home directory, for example `.bashrc`."""
        path = self.home(user) / name
        made = [parent for parent in path.parents if not parent.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for one in (*made, path):
            os.chown(one, UIDS[user], UIDS[user])
        return path

    def install_tarmac(self, user: str = "root") -> None:
        """Put the `tarmac` under test into ~/.local/bin, as a user would with pip or uv."""
        script = self.write_rc(".local/bin/tarmac", f'#!/bin/sh\nexec {BIN}/tarmac "$@"\n', user)
        script.chmod(0o755)

    def new_host_key(self) -> None:
        """As after a reinstallation. The client still knows the old key."""
        self.kill_sshd()
        for name in ("host_key", "host_key.pub"):
            (self.folder / name).unlink()
        from tests.ssh.lab import make_key

        make_key(self.folder / "host_key")
        self.start_sshd()

    @property
    def _cgroup(self) -> str:
        return f"ssh-{self.lab.path.name}-{self.name}"  # an agent would leave a cgroup named tarmac-…

    @property
    def _running(self) -> Namespace:
        assert self._namespace is not None, f"{self.name} is off"
        return self._namespace

    def _plan(self) -> dict[str, object]:
        visible = [str(path) for path in (self.lab.path, REPOSITORY, sys.prefix, sys.base_prefix, *self._visible)]
        files = {name: f"/etc/{name}" for name in ("passwd", "shadow", "group")}
        return {
            "name": self.name,
            "fresh": [*FRESH, *sorted(filter(None, {_closed_parent(path) for path in visible}))],
            "visible": visible,
            "files": {
                **{str(self.folder / name): target for name, target in files.items()},
                str(self.folder / "boot_id"): "/proc/sys/kernel/random/boot_id",
                str(self.folder / "var-tmp"): "/var/tmp",
                str(self.lab.path / "hosts"): "/etc/hosts",
            },
        }

    def _write_accounts(self) -> None:
        """Written in place: the files are mounted."""
        machine = {name: Path(f"/etc/{name}").read_text().splitlines() for name in ("passwd", "group")}
        kept = {name: [line for line in lines if line.split(":")[0] not in UIDS] for name, lines in machine.items()}
        for user, uid in UIDS.items():
            kept["passwd"].append(f"{user}:x:{uid}:{uid}:{user}:{self.home(user)}:{self._shells[user]}")
            kept["group"].append(f"{user}:x:{uid}:")
        (self.folder / "passwd").write_text("\n".join(kept["passwd"]) + "\n")
        (self.folder / "group").write_text("\n".join(kept["group"]) + "\n")
        (self.folder / "shadow").write_text("".join(f"{user}:{self._password}:19000:0:99999:7:::\n" for user in UIDS))
        (self.folder / "shadow").chmod(0o600)

    def _set_client_mac(self, mac: str) -> None:
        words = ("neigh", "replace", self.lab.address, "lladdr", mac, "dev", "eth0", "nud", "permanent")
        self._running.run("ip", *words)


def _closed_parent(path: str) -> str | None:
    """The first directory on the way to a path that other accounts may not enter. It is empty on the host."""
    for parent in reversed(Path(path).parents):
        if parent != Path("/") and not parent.stat().st_mode & 0o001:
            return str(parent)
    return None
