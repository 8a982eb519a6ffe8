"""The Python of a command and its packages, found without running anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tarmac.agent.environments.fingerprint import take_fingerprint
from tarmac.shared.frames.to_agent import FingerprintSubject
from tarmac.shared.frames.to_controller import Fingerprint
from tests.agent.environments.prefixes import make_conda, make_venv

SHORT = f"python{sys.version_info.major}.{sys.version_info.minor}"


def taken(cwd: Path, program: str = "", *, path: Path | str = "", **more: str) -> Fingerprint | None:
    subject: FingerprintSubject = {
        "program": program, "cwd": str(cwd), "path": str(path), "home": str(cwd / "home"), "python_path": "",
        "no_user_site": False, "venv": "", "conda": "", **more,
    }  # type: ignore[typeddict-item]  # fmt: skip
    return take_fingerprint(subject, lambda _: None)


def install(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).mkdir(parents=True, exist_ok=True)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A virtual environment with some packages."""
    path = make_venv(tmp_path / "made")
    site = path / "lib" / SHORT / "site-packages"
    install(site, "torch-2.3.0+cu121.dist-info", "Py_YAML-6.0.dist-info", "old-1.0-py3.9.egg-info", "torch", "x.pth")
    return path


PACKAGES = {"old": "1.0", "py-yaml": "6.0", "torch": "2.3.0+cu121"}


def test_a_virtual_environment(made: Path, tmp_path: Path) -> None:
    found = taken(tmp_path, "python", path=made / "bin")
    version = ".".join(map(str, sys.version_info[:3]))
    assert found == {"python": f"{made}/bin/python", "version": version, "packages": PACKAGES}
    assert taken(tmp_path, "made/bin/python") == found
    assert taken(tmp_path, "python", path="/nowhere", venv=str(made)) == found
    assert taken(tmp_path, "", path=made / "bin") == found, "a shell string may use the python on its PATH"


def test_it_agrees_with_the_interpreter_itself() -> None:
    """The environment of the tests, with what pip installed."""
    script = (
        "import importlib.metadata as m, json, re, sys;"
        "print(json.dumps({re.sub('[-_.]+', '-', d.name).lower(): d.version for d in m.distributions()}))"
    )
    env = {"PATH": "/usr/bin:/bin", "PYTHONNOUSERSITE": "1"}
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=env, cwd="/")
    found = taken(Path("/"), sys.executable)
    assert found is not None
    assert found["version"] == ".".join(map(str, sys.version_info[:3]))
    import json

    assert found["packages"].keys() == json.loads(done.stdout).keys()


@pytest.mark.parametrize(
    "first",
    [
        "#!{python}",
        "#!/usr/bin/env python",
        "#!/usr/bin/env -S python -u",
        '#!/bin/sh\n\'\'\'exec\' "{python}" "$0" "$@"',
    ],
)
def test_scripts_such_as_torchrun_lead_to_their_interpreter(made: Path, tmp_path: Path, first: str) -> None:
    script = tmp_path / "torchrun"
    script.write_text(first.format(python=made / "bin" / "python") + "\nprint(1)\n")
    script.chmod(0o755)
    found = taken(tmp_path, "./torchrun", path=made / "bin")
    assert found is not None
    assert found["packages"] == PACKAGES


def test_other_programs_say_nothing_but_the_path_does(made: Path, tmp_path: Path) -> None:
    assert taken(tmp_path, "/bin/sh", path=tmp_path) is None
    assert taken(tmp_path, "nothing", path=tmp_path) is None
    found = taken(tmp_path, "/bin/sh", path=made / "bin")
    assert found is not None
    assert found["python"] == f"{made}/bin/python"


def test_packages_of_the_user_and_of_the_system_count_where_python_sees_them(made: Path, tmp_path: Path) -> None:
    install(tmp_path / "home" / ".local" / "lib" / SHORT / "site-packages", "mine-1.0.dist-info", "torch-9.dist-info")
    install(tmp_path / "extra", "extra-3.dist-info")
    before = taken(tmp_path, "python", path=made / "bin", python_path="extra")
    assert before is not None
    assert before["packages"] == {**PACKAGES, "extra": "3"}
    settings = made / "pyvenv.cfg"
    settings.write_text(settings.read_text().replace("packages = false", "packages = true"))
    found = taken(tmp_path, "python", path=made / "bin")
    assert found is not None
    assert (found["packages"]["mine"], found["packages"]["torch"]) == ("1.0", "9")


def test_a_conda_environment_tells_the_version_of_its_python(tmp_path: Path) -> None:
    prefix = make_conda(tmp_path / "envs" / "ml")
    (prefix / "bin" / "python").unlink()
    for name in ("python", "python3.10"):
        (prefix / "bin" / name).write_bytes(b"\x7fELF")
        (prefix / "bin" / name).chmod(0o755)
    install(prefix / "lib" / "python3.10" / "site-packages", "jax-0.4.dist-info")
    (prefix / "conda-meta" / "python-3.10.14-h1234_0_cpython.json").touch()
    found = taken(tmp_path, "python", conda=str(prefix))
    assert found == {"python": f"{prefix}/bin/python", "version": "3.10.14", "packages": {"jax": "0.4"}}


def test_a_shim_of_pyenv_leads_to_the_version_of_the_directory(tmp_path: Path) -> None:
    root = tmp_path / "pyenv"
    for version in ("3.8.1", "3.9.2"):
        prefix = root / "versions" / version
        install(prefix / "lib" / f"python{version[:3]}" / "site-packages", f"of-{version}.dist-info")
        (prefix / "bin").mkdir()
        (prefix / "bin" / "python").write_bytes(b"\x7fELF")
        (prefix / "bin" / "python").chmod(0o755)
    (root / "shims").mkdir()
    (root / "shims" / "python").write_text("#!/usr/bin/env bash\nexec pyenv exec python\n")
    (root / "shims" / "python").chmod(0o755)
    (root / "version").write_text("3.8.1\n")
    work = tmp_path / "project" / "sub"
    work.mkdir(parents=True)
    usual = taken(work, "python", path=root / "shims")
    (work.parent / ".python-version").write_text("3.9.2\n")
    local = taken(work, "python", path=root / "shims")
    assert usual is not None
    assert local is not None
    assert (usual["version"], local["version"]) == ("3.8.1", "3.9.2")


def test_nothing_is_executed(made: Path, tmp_path: Path) -> None:
    (made / "bin" / "python").unlink()
    trap = made / "bin" / "python"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\n")
    trap.chmod(0o755)
    assert taken(tmp_path, "python", path=made / "bin") is not None
    assert not os.path.exists(tmp_path / "executed")
