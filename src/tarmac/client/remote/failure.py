"""Why a login failed, according to what `ssh` said."""

from __future__ import annotations

from tarmac.errors import Unavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.client.remote.address import Address

MOST_LINES = 12
# Errors that a person must do something about: repeating the login changes nothing.
REFUSED = "remote.refused"


def login_failed(address: Address, said: str, *, is_shown: bool = False) -> Unavailable:
    """`is_shown`: ssh wrote to the user's terminal, so its words are not repeated and not known."""
    if is_shown:
        return Unavailable(f"ssh could not connect to {address.name}; its message is above", _try(address), REFUSED)
    low = said.lower()
    if "remote host identification has changed" in low:
        message = f"the host key of {address.name} has changed, so nothing was sent"
        hint = f"if you expect that, remove the old key with `ssh-keygen -R`, and log in once with `{_login(address)}`"
    elif "host key verification failed" in low or "no matching host key" in low:
        message = f"the host key of {address.name} is not known, so nothing was sent"
        hint = f"run `{_login(address)}` once in a terminal, and check the key that it shows"
    elif "permission denied" in low or "too many authentication failures" in low:
        message = f"{address.name} refused the login"
        hint = f"run `{_login(address)}` in a terminal: it must work without a question, or run this in a terminal, too"
    else:
        return Unavailable(_with(f"{address.name} cannot be reached", said), _try(address))
    return Unavailable(_with(message, said), hint, REFUSED)


def no_tarmac(address: Address) -> Unavailable:
    return Unavailable(
        f"tarmac is not installed on {address.name}: neither on the PATH nor in ~/.local/bin",
        "install it there with `pip install tarmac-gpu`, or set TARMAC_REMOTE_COMMAND to its path",
        REFUSED,
    )


def no_answer(address: Address, printed: bytes, said: str, *, is_late: bool) -> Unavailable:
    """The login worked, but `tarmac` did not answer. A login file may have stopped it."""
    how = "did not answer in time" if is_late else "ended the connection before tarmac answered"
    came = "\n".join(part for part in (printed.decode("utf-8", "replace").strip(), said.strip()) if part)
    return Unavailable(
        _with(f"{address.name} {how}", came),
        f"check that `{_login(address)} tarmac --version` works, and that no login file there reads or waits",
        None if is_late else REFUSED,
    )


def _with(message: str, said: str) -> str:
    lines = [line.rstrip() for line in said.strip().splitlines() if line.strip()]
    return "\n".join([message + (":" if lines else ""), *lines[-MOST_LINES:]])


def _login(address: Address) -> str:
    return f"ssh {f'-p {address.port} ' if address.port else ''}{address.name}"


def _try(address: Address) -> str:
    return f"check that `{_login(address)}` works"
