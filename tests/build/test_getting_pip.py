import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def lone_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with no settings of pip, on a machine without any."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "system"))
    return tmp_path


def test_the_environment_beats_the_users_file_which_beats_the_systems(lone_home: Path, monkeypatch: pytest.MonkeyPatch):
    pipconf = tool("pipconf")
    for folder, index in (("system", "https://system.example/simple"), ("config", "https://user.example/simple")):
        (lone_home / folder / "pip").mkdir(parents=True)
        (lone_home / folder / "pip" / "pip.conf").write_text(f"[global]\nindex-url = {index}\n")
    assert pipconf.read()["index-url"] == "https://user.example/simple"
    monkeypatch.setenv("PIP_INDEX_URL", "https://shell.example/simple/")
    assert pipconf.indexes()[0] == ("https://shell.example/simple/", pipconf.read().get("cert"))


def test_the_newest_release_of_an_index_is_fetched(lone_home: Path):
    page = lone_home / "simple" / "pip"
    page.mkdir(parents=True)
    names = [f"pip-{version}-py3-none-any.whl" for version in ("9.0.1", "24.0", "23.3.2")]
    for name in names:
        (page / name).write_bytes(name.encode())
    (page / "index.html").write_text("".join(f'<a href="{name}#sha256=00">{name}</a>\n' for name in names))
    (lone_home / "got").mkdir()
    got = tool("pipconf").download_newest("pip", f"{(lone_home / 'simple').as_uri()}/", None, str(lone_home / "got"))
    assert Path(got).read_bytes() == b"pip-24.0-py3-none-any.whl"


def test_an_index_that_cannot_be_read_is_not_an_error(lone_home: Path):
    assert tool("pipconf").download_newest("pip", f"{lone_home.as_uri()}/nothing/", None, str(lone_home)) is None


def test_an_interpreter_that_is_too_old_or_missing_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    interpreter = tool("interpreter")
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYTHON", raising=False)
    with pytest.raises(SystemExit, match=r"3\.11 or newer"):
        interpreter.find()


def test_a_shim_is_followed_to_the_interpreter_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shim = tmp_path / "python3"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYTHON", raising=False)
    assert tool("interpreter").find() == sys.executable
