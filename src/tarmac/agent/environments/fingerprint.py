"""Which Python a command uses, and which packages are installed for it. Called in file helpers only.

Nothing is run or imported: versions come from the names of directories and from pyvenv.cfg.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from tarmac.agent.environments.conda import look_for_conda
from tarmac.agent.environments.listing import names_in

if TYPE_CHECKING:
    from tarmac.shared.frames.to_agent import FingerprintSubject
    from tarmac.shared.frames.to_controller import Fingerprint

_PYTHON = re.compile(r"(?:python|pypy|pythonw?)[\d.]*$")
_LIBRARY = re.compile(r"(?:python|pypy)\d+\.\d+$")
# `torch-2.3.0.dist-info`, `Foo-1.0-py3.9.egg-info`
_PACKAGE = re.compile(r"(?P<name>[A-Za-z0-9][\w.]*?)-(?P<version>[^-]+)(?:-py[\d.]+)?\.(?:dist|egg)-info$")
_HEADER = re.compile(r'#define\s+PY_VERSION\s+"([^"]+)"')
_MOST_LINKS = 8
_MOST_BYTES = 4096
_MOST_PACKAGES = 20_000


class _Python(NamedTuple):
    path: str
    prefix: str  # of its virtual environment, or of its installation
    library: str  # lib/python3.11 of the prefix
    version: str
    base_library: str  # of the installation that a virtual environment rests on
    sees_others: bool  # packages outside the virtual environment


def take_fingerprint(subject: FingerprintSubject, touch: Callable[[str], None]) -> Optional[Fingerprint]:
    """None if the command seems to use no Python. `touch` is called before a directory is read."""
    path = _search_path(subject)
    touch(subject["cwd"])
    for program in filter(None, (subject["program"], "python", "python3")):
        for file in _pythons_of(program, path, subject["cwd"], touch):
            python = _describe(file, touch)
            if python is not None:
                packages = _packages(python, subject, touch)
                return {"python": python.path, "version": python.version, "packages": packages}
    return None


def _search_path(subject: FingerprintSubject) -> List[str]:
    """PATH, as it is once the environment of the job is active."""
    folders = subject["path"].split(os.pathsep)
    if subject["venv"]:
        return [os.path.join(subject["venv"], "bin"), *folders]
    if subject["conda"]:
        wanted = subject["conda"]
        prefix = wanted if os.path.isabs(wanted) else look_for_conda(wanted, subject["cwd"], {}).prefix
        return [os.path.join(prefix, "bin"), *folders] if prefix else folders
    return folders


# The interpreter


def _pythons_of(program: str, path: List[str], cwd: str, touch: Callable[[str], None], depth: int = 0) -> Iterator[str]:
    """The program itself, or the interpreter of a script such as torchrun. The first that is a Python counts."""
    for file in _which(program, path, cwd, touch):
        shimmed = _behind_shim(file, cwd)
        if shimmed is not None:
            yield from _pythons_of(shimmed, path, cwd, touch, depth + 1) if depth < _MOST_LINKS else ()
            continue
        if _PYTHON.match(os.path.basename(file)):
            yield file
            continue
        interpreter = _interpreter(file)
        if interpreter is not None and depth < _MOST_LINKS:
            yield from _pythons_of(interpreter, path, cwd, touch, depth + 1)
        return  # this is what the job runs


def _which(program: str, path: List[str], cwd: str, touch: Callable[[str], None]) -> Iterator[str]:
    folders = [""] if "/" in program else path
    for folder in folders:
        file = os.path.normpath(os.path.join(cwd, folder, program))
        touch(os.path.dirname(file))
        if os.path.isfile(file) and os.access(file, os.X_OK):
            yield file


def _behind_shim(file: str, cwd: str) -> Optional[str]:
    """The program that a shim of pyenv runs in this directory."""
    folder, name = os.path.split(file)
    root = os.path.dirname(folder)
    if os.path.basename(folder) != "shims" or not os.path.isdir(os.path.join(root, "versions")):
        return None
    places = [os.path.join(root, "version")]
    while cwd != os.path.dirname(cwd):
        places.insert(-1, os.path.join(cwd, ".python-version"))
        cwd = os.path.dirname(cwd)
    for place in places:
        for version in _words(place):
            found = os.path.join(root, "versions", version, "bin", name)
            if os.path.isfile(found):
                return found
    return None


def _words(path: str) -> List[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_BYTES).split()
    except OSError:
        return []


def _interpreter(file: str) -> Optional[str]:
    """What the #! line names. `env` and the trick of pip for long paths are seen through."""
    try:
        with open(file, "rb") as script:
            lines = script.read(_MOST_BYTES).decode("utf-8", "replace").split("\n")
    except OSError:
        return None
    if not lines[0].startswith("#!"):
        return None
    words = lines[0][2:].split()
    if words and os.path.basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if words and words[0] == "/bin/sh" and len(lines) > 1 and lines[1].startswith("'''exec' "):
        return lines[1][len("'''exec' ") :].split(' "$0"')[0].strip().strip('"')
    return words[0] if words else None


def _describe(file: str, touch: Callable[[str], None]) -> Optional[_Python]:
    prefix = os.path.dirname(os.path.dirname(file))
    settings = _settings(os.path.join(prefix, "pyvenv.cfg"))
    real = os.path.realpath(file)
    touch(real)
    base = os.path.dirname(os.path.dirname(real))
    if settings is None:
        prefix = base
    library = _library(prefix, real)
    base_library = _library(base, real) if settings is not None else library
    if library is None:
        return None
    recorded = settings or {}  # when a virtual environment was made; its Python may have been updated since
    version = (
        _full_version(base, base_library or library)
        or recorded.get("version_info")
        or recorded.get("version")
        or _numbers(library)
    )
    sees_others = settings is None or settings.get("include-system-site-packages", "").lower() == "true"
    numbers = re.match(r"\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?", version)
    shown = numbers.group() if numbers else version
    return _Python(file, prefix, library, shown, base_library or library, sees_others)


def _settings(path: str) -> Optional[Dict[str, str]]:
    """The settings in a `pyvenv.cfg`; None if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            pairs = [line.split("=", 1) for line in file.read(_MOST_BYTES * 4).splitlines() if "=" in line]
    except OSError:
        return None
    return {name.strip().lower(): value.strip() for name, value in pairs}


def _library(prefix: str, real: str) -> Optional[str]:
    """`lib/python3.11`. If there are several, that of the interpreter's name."""
    folder = os.path.join(prefix, "lib")
    names = [name for name in names_in(folder) if _LIBRARY.match(name)]
    named = [name for name in names if name == os.path.basename(real)]
    chosen = named or sorted(names, key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    return os.path.join(folder, chosen[0]) if chosen else None


def _full_version(base: str, library: str) -> Optional[str]:
    """From what an installation is delivered with: its header, its package in conda, or its directory."""
    name, short = os.path.basename(library), _numbers(library)
    try:
        header = os.path.join(base, "include", name, "patchlevel.h")
        with open(header, encoding="utf-8", errors="replace") as file:
            found = _HEADER.search(file.read(1 << 16))
        if found is not None:
            return found.group(1)
    except OSError:
        pass
    for record in names_in(os.path.join(base, "conda-meta")):
        if record.startswith("python-") and record.endswith(".json"):
            return record.split("-")[1]
    in_path = re.search(rf"(?:^|[/-])({re.escape(short)}\.\d+)(?:[-+/]|$)", base)
    return in_path.group(1) if in_path else None


def _numbers(library: str) -> str:
    """`3.11` of lib/python3.11."""
    return re.sub(r"^\D+", "", os.path.basename(library))


# The packages


def _packages(python: _Python, subject: FingerprintSubject, touch: Callable[[str], None]) -> Dict[str, str]:
    """The version of each. The first on the way that Python searches counts."""
    found: Dict[str, str] = {}
    for folder in dict.fromkeys(_site_folders(python, subject)):
        touch(folder)
        for name, version in _installed(folder):
            found.setdefault(name, version)
            if len(found) >= _MOST_PACKAGES:
                return found
    return dict(sorted(found.items()))


def _site_folders(python: _Python, subject: FingerprintSubject) -> Iterator[str]:
    version = os.path.basename(python.library)
    for folder in subject["python_path"].split(os.pathsep):
        if folder:
            yield os.path.normpath(os.path.join(subject["cwd"], folder))
    if python.sees_others and subject["home"] and not subject["no_user_site"]:
        yield os.path.join(subject["home"], ".local", "lib", version, "site-packages")
    yield os.path.join(python.library, "site-packages")
    if python.sees_others:
        base = os.path.dirname(os.path.dirname(python.base_library))
        yield os.path.join(python.base_library, "site-packages")
        yield os.path.join(base, "local", "lib", version, "dist-packages")  # Debian
        yield os.path.join(base, "lib", "python3", "dist-packages")


def _installed(folder: str) -> Iterator[Tuple[str, str]]:
    for entry in names_in(folder):
        found = _PACKAGE.match(entry)
        if found is not None:
            yield re.sub(r"[-_.]+", "-", found.group("name")).lower(), found.group("version")
