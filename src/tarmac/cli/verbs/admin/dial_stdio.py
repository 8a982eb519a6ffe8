"""`tarmac dial-stdio`: what `tarmac -H` runs on the other machine. It connects stdin and stdout with the controller."""

from __future__ import annotations

from tarmac.cli.parser import Option, Verb, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tarmac.cli.parser import Values


def run(values: Values, _: list[str]) -> int:
    from tarmac.client.remote.served import copy_stream, serve_channels

    if values["run"] is not None:
        from tarmac.cli.remote.there import run_here

        return run_here(values["run"], values["channels"])
    if values["channels"] is not None:
        serve_channels(values["channels"])
    else:
        copy_stream()
    return 0


VERB = Verb(
    "dial-stdio",
    "connect stdin and stdout with the controller; `tarmac -H` uses it",
    usage=("tarmac dial-stdio [OPTIONS]",),
    run=run,
    takes_words=False,
    options=(
        Option("--channels", None, "many connections at once, after a line with this word", "WORD", text),
        Option("--run", None, "run a command line instead, given as hexadecimal JSON", "HEX", text),
    ),
    examples=(
        ("tarmac -H ssh://gpu01 ls", "runs `ssh gpu01 tarmac dial-stdio`"),
        (
            "printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' | ssh gpu01 tarmac dial-stdio",
            "HTTP, as on the controller's socket",
        ),
    ),
    notes=("It starts the controller if none runs. The connection is that of your account on this machine.",),
)
