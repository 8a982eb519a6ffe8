"""`tarmac web`: open the page in a browser, logged in."""

from __future__ import annotations

from tarmac.cli.parser import JSON, Option, Verb
from tarmac.cli.session import connect
from tarmac.cli.term.terminal import STDOUT, is_terminal, out, out_json, say
from tarmac.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values

LAST_PORT = 65535


def run(values: Values, words: list[str]) -> int:
    if words:
        raise UserError(f"web: unexpected argument {words[0]!r}", "run `tarmac web --help` to see its options")
    client = connect()
    if values["logout"]:
        client.log_out_of_page()
        say("logged out of the page in all browsers")
        return 0
    link = client.page_link(values["port"])
    if values["json"]:
        out_json(link)
        return 0
    if client.remote is not None:
        from tarmac.cli.remote.page import forward

        return forward(client.remote.address, link["url"], lambda: _show(link["url"], values))
    _show(link["url"], values)
    return 0


def _show(url: str, values: Values) -> None:
    out(f"{url}\n")
    if not values["no_open"] and is_terminal(STDOUT) and _opened(url):
        say("opened in your browser; the link works once, for 5 minutes")
    else:
        say("open it in a browser on this machine; the link works once, for 5 minutes")


def _opened(url: str) -> bool:
    """False where no graphical browser can be started, such as in an SSH session."""
    import os

    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    import webbrowser

    return webbrowser.open(url)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:6]) <= LAST_PORT):
        raise ValueError(f"it must be from 1 to {LAST_PORT}")
    return int(text)


VERB = Verb(
    "web",
    "open the page: GPUs, queue, logs and history in a browser",
    usage=("tarmac web [OPTIONS]",),
    run=run,
    options=(
        Option("--no-open", None, "print the address only"),
        Option("--port", None, "serve the page on this port; by default the one of last time, or any", "N", _port),
        Option("--logout", None, "log out of the page in all browsers"),
        JSON,
    ),
    examples=(
        ("tarmac web", "print a link, and open it"),
        ("tarmac web --no-open --port 8080", "for `ssh -L 8080:localhost:8080 gpu01`"),
        ("tarmac -H ssh://gpu01 web", "the page of gpu01, until Ctrl-C"),
        ("tarmac web --logout", "end every session of yours"),
    ),
    notes=(
        "The link logs you in once, within 5 minutes. A browser stays logged in for 30 days after its last visit.",
        "The page is served on 127.0.0.1 only.",
    ),
)
