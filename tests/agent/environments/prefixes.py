"""Virtual and conda environments for tests, made of real files."""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path


def make_venv(path: Path) -> Path:
    venv.create(path, with_pip=False, symlinks=True)
    return path


def make_conda(
    prefix: Path,
    *,
    activate: dict[str, str] | None = None,
    deactivate: dict[str, str] | None = None,
    state: dict[str, str] | None = None,
    package_variables: dict[str, str] | None = None,
    is_root: bool = False,
) -> Path:
    """As `conda create` leaves it: packages are recorded in conda-meta, and may bring scripts and variables."""
    for folder in ("conda-meta", "bin", *(["condabin"] if is_root else [])):
        (prefix / folder).mkdir(parents=True, exist_ok=True)
    (prefix / "conda-meta" / "history").write_text("")
    python = prefix / "bin" / "python"
    if not python.exists():
        python.symlink_to(sys.executable)
    for kind, scripts in (("activate.d", activate), ("deactivate.d", deactivate)):
        for name, text in (scripts or {}).items():
            folder = prefix / "etc" / "conda" / kind
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    if state is not None:
        (prefix / "conda-meta" / "state").write_text(json.dumps({"version": 1, "env_vars": state}))
    if package_variables is not None:
        folder = prefix / "etc" / "conda" / "env_vars.d"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(json.dumps(package_variables))
    return prefix
