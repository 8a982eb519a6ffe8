import pytest

from tarmac.client.remote.address import Address, read_address
from tarmac.errors import UserError


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ssh://gpu01", Address("gpu01", None, None)),
        ("SSH://gpu01/", Address("gpu01", None, None)),
        ("gpu01", Address("gpu01", None, None)),
        ("ssh://alice@gpu01.lab.org:2222", Address("gpu01.lab.org", "alice", 2222)),
        ("alice@gpu01", Address("gpu01", "alice", None)),
        ("ssh://alice@example.org@gpu01", Address("gpu01", "alice@example.org", None)),
        ("ssh://[fe80::1%eth0]:22", Address("fe80::1%eth0", None, 22)),
        ("ssh://fe80::1", Address("fe80::1", None, None)),
    ],
)
def test_an_address(text: str, meant: Address) -> None:
    assert read_address(text) == meant


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ssh://", "it has no host"),
        ("ssh://@gpu01", "it has no user"),
        ("ssh://-oProxyCommand=x", "the host begins with a hyphen"),
        ("ssh://-l@gpu01", "the user begins with a hyphen"),
        ("ssh://gpu01:0", "the port must be from 1 to 65535"),
        ("ssh://gpu01:x", "the port must be from 1 to 65535"),
        ("ssh://gpu01:99999999999999999999", "the port must be from 1 to 65535"),
        ("ssh://gpu01/home", "the host contains a slash"),
        ("ssh://gpu 01", "the host contains a character"),
        ("ssh://gpu01\n", "the host contains a character"),
        ("ssh://[::1", "its brackets do not match"),
        ("http://gpu01", "http:// is not supported"),
    ],
)
def test_what_is_not_an_address(text: str, why: str) -> None:
    with pytest.raises(UserError) as caught:
        read_address(text)
    assert why in caught.value.message
    assert "ssh://[USER@]HOST[:PORT]" in str(caught.value.hint)


def test_the_host_can_never_become_an_option() -> None:
    assert Address("gpu01", "alice", 2222).arguments() == ["-l", "alice", "-p", "2222", "--", "gpu01"]
