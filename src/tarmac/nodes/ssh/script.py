"""The shell script that begins every link: it looks for a Python that can run the agent, and hands over to it.

It arrives on the standard input of /bin/sh, so it works with any login shell and needs no quoting on the way. Empty
lines come first: a login file that reads a line of input gets one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tarmac.nodes.ssh.archive import FIRST_STEP

if TYPE_CHECKING:
    from tarmac.nodes.ssh.archive import Archive

SHELL = "exec /bin/sh"
PYTHONS = (
    "python3 /usr/bin/python3 /usr/local/bin/python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9 "
    "python3.8 python"
)
END = "END-OF-FIRST-STEP"


def link_script(marker: str, archive: Archive) -> bytes:
    return f"""







found=
for python in {PYTHONS}; do
  version=$("$python" -I -c 'import sys; print("%d.%d" % sys.version_info[:2])' </dev/null 2>/dev/null) || continue
  case $version in
    3.[0-7]) found=$version ;;
    3.*) exec "$python" -I -c "$(cat <<'{END}'
{FIRST_STEP.read_text("utf-8")}
{END}
)" {marker} {archive.name} {len(archive.data)} ;;
  esac
done
printf '\\n%s {{"step": "no-python", "found": "%s"}}\\n' {marker} "$found"
""".encode()
