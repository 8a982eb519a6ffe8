"""Accounts whose login shell or login files get in the way."""

import pytest

from tarmac.nodes.ssh import connector
from tarmac.nodes.ssh.failure import LinkFailed
from tests.services import need
from tests.ssh.hosts import Host
from tests.ssh.lab import Lab
from tests.ssh.links import connect

ALICE = "alice"


@pytest.fixture(scope="module")
def host(shared_lab: Lab) -> Host:
    return shared_lab.host("gpu01")


def failure(lab: Lab) -> LinkFailed:
    with pytest.raises(LinkFailed) as raised:
        connect(lab, "gpu01", ALICE)
    return raised.value


@pytest.mark.parametrize("shell", ["bash", "sh", "tcsh", "fish"])
def test_any_login_shell_will_do(shared_lab: Lab, host: Host, shell: str) -> None:
    need(shell)
    host.shell(shell, ALICE)
    joined, hello = connect(shared_lab, "gpu01", ALICE)
    host.shell("bash", ALICE)
    assert (joined.account.user, joined.account.home) == (ALICE, str(host.home(ALICE)))
    assert joined.account.shell.endswith(f"/{shell}")
    assert (joined.boot_id, hello["boot_id"], hello["node"]) == (host.boot_id, host.boot_id, "gpu01")


@pytest.mark.parametrize(
    "text",
    [
        "echo Welcome to gpu01\nprintf 'no end of line'\necho warning >&2\n",
        "head -c 300000 /dev/urandom\n",
        "read line\n",
        "set -u; alias python3=false; umask 0\ncd /\n",
        "exec 2>&-\n",
    ],
    ids=["prints", "prints-much", "reads-a-line", "odd-settings", "closes-stderr"],
)
def test_a_login_file_does_not_get_in_the_way(shared_lab: Lab, host: Host, text: str) -> None:
    rc = host.write_rc(".bashrc", text, ALICE)
    joined, hello = connect(shared_lab, "gpu01", ALICE)
    rc.unlink()
    assert joined.account.user == ALICE
    assert hello["boot_id"] == host.boot_id


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo 'This account has expired.'; exit 0\n", "This account has expired."),
        ("echo '/etc/x: Permission denied' >&2; exit 1\n", "/etc/x: Permission denied"),
        ("exec tmux\n", "open terminal failed: not a terminal"),
    ],
    ids=["exits", "fails", "execs-tmux"],
)
def test_a_login_file_that_ends_the_shell_is_shown(shared_lab: Lab, host: Host, text: str, said: str) -> None:
    if "tmux" in text:
        need("tmux")
    rc = host.write_rc(".bashrc", text, ALICE)
    found = failure(shared_lab)
    rc.unlink()
    assert (found.kind, found.said) == ("ended", said)


def test_a_login_file_that_reads_all_input_is_reported(
    shared_lab: Lab, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connector, "MARKER_WITHIN_S", 3.0)
    rc = host.write_rc(".bashrc", "echo reading; cat >/dev/null\n", ALICE)
    found = failure(shared_lab)
    rc.unlink()
    assert (found.kind, found.said) == ("silent", "reading")


def test_the_home_directory_may_forbid_programs(shared_lab: Lab, host: Host) -> None:
    options = "size=16m,mode=700,uid=2002,gid=2002,noexec,nosuid"
    host.run("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(host.home("bob")))
    joined, hello = connect(shared_lab, "gpu01", "bob")
    assert joined.state.startswith(f"{host.home('bob')}/")
    assert hello["boot_id"] == host.boot_id
