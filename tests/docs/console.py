"""Reads ```console blocks: commands after `$ ` (`> ` continues them) and the output that was promised.

In promised output `…` stands for anything within a line, and alone on a line for any lines.
"""

import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Example:
    command: str
    promised: list[str]


def examples(page: Path) -> list[Example]:
    return [example for block in FENCE.findall(page.read_text(encoding="utf-8")) for example in _in_block(block)]


def _in_block(block: str) -> list[Example]:
    found: list[Example] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Example(command=line[2:], promised=[]))
        elif (line == ">" or line.startswith("> ")) and not found[-1].promised:
            found[-1] = Example(command=f"{found[-1].command}\n{line[2:]}", promised=[])
        else:
            found[-1].promised.append(line.rstrip())
    return found


def keeps_promise(promised: list[str], printed: str) -> bool:
    """A command with no promised output may print what it likes: the page shows only what matters."""
    if not promised:
        return True
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else _line(line) + r"\n" for line in promised)
    lines = [line.strip() for line in printed.rstrip().splitlines()]
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines)) is not None


def _line(promised: str) -> str:
    """Columns may be as wide as they like, so any run of blanks matches any other."""
    parts = [
        r"[ \t]+".join(re.escape(word) for word in re.split(r"[ \t]+", part)) for part in promised.strip().split("…")
    ]
    return ".*?".join(parts)
