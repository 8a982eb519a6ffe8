"""requirements.lock is what pyproject.toml asks for: nothing else, nothing less, and without addresses."""

import hashlib
import importlib.metadata
import re
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import bootstrap  # noqa: E402
import lockfile  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKED = {name: lockfile.entries(text) for name, text in lockfile.read(ROOT).items()}
VERSIONS = {
    package: Requirement(entry.partition("\\")[0]).specifier
    for part in LOCKED.values()
    for package, entry in part.items()
}
ASKED = {
    "build": [*PROJECT["build-system"]["requires"], *PROJECT["dependency-groups"]["build"]],
    "run": PROJECT["project"]["dependencies"],
    "build-dev": PROJECT["dependency-groups"]["build-dev"],
    "dev": PROJECT["project"]["optional-dependencies"]["dev"],
}


def version_of(package: str) -> str:
    (exact,) = VERSIONS[package]
    assert exact.operator == "=="
    return exact.version


def needed_by(requirements: list[str]) -> set[str]:
    """All packages that these requirements bring in here, by the metadata of what is installed."""
    found: set[str] = set()
    todo = [Requirement(text) for text in requirements]
    while todo:
        wanted = todo.pop()
        package = canonicalize_name(wanted.name)
        assert wanted.specifier.contains(version_of(package)), f"{wanted} is locked to {version_of(package)}"
        if package in found:
            continue
        found.add(package)
        for text in importlib.metadata.requires(package) or []:
            further = Requirement(text)
            if further.marker is None or any(further.marker.evaluate({"extra": x}) for x in wanted.extras or {""}):
                todo.append(further)
    return found


@pytest.mark.parametrize("section", ASKED)
def test_each_section_holds_what_pyproject_asks_for_and_nothing_else(section: str) -> None:
    sections = list(ASKED)
    earlier = {package for name in sections[: sections.index(section)] for package in LOCKED[name]}
    here = {
        package
        for package, entry in LOCKED[section].items()
        if (marker := Requirement(entry.partition("\\")[0]).marker) is None or marker.evaluate()
    }
    assert here == needed_by(ASKED[section]) - earlier


def test_every_package_has_hashes_and_no_address() -> None:
    assert list(LOCKED) == list(ASKED)
    for part in LOCKED.values():
        for entry in part.values():
            assert re.fullmatch(r"[a-z0-9.-]+==[^ @/]+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+", entry), entry
    assert "://" not in Path(lockfile.path(ROOT)).read_text(encoding="utf-8")


def test_what_is_installed_is_what_is_locked() -> None:
    for package in needed_by([text for texts in ASKED.values() for text in texts]):
        assert importlib.metadata.version(package) == version_of(package)


@pytest.fixture
def locked_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a lock file that names one wheel, which pip finds beside it and installs into `target`."""
    wheel = tmp_path / "lone-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("lone.py", "")
        archive.writestr("lone-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: lone\nVersion: 1.0\n")
        archive.writestr("lone-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("lone-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (tmp_path / "requirements.lock").write_text(f"# [run]: one\nlone==1.0 \\\n    --hash=sha256:{digest}\n")
    monkeypatch.setattr(bootstrap, "ROOT", str(tmp_path))
    monkeypatch.setattr(bootstrap, "PYTHON", sys.executable)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "target"))
    return tmp_path


def test_a_locked_package_is_installed(locked_wheel: Path) -> None:
    bootstrap.install_locked("run")
    assert (locked_wheel / "target" / "lone.py").exists()


def test_a_package_whose_hash_differs_is_not_installed(locked_wheel: Path) -> None:
    text = (locked_wheel / "requirements.lock").read_text()
    (locked_wheel / "requirements.lock").write_text(re.sub(r"sha256:\S+", f"sha256:{'0' * 64}", text))
    with pytest.raises(SystemExit):
        bootstrap.install_locked("run")
    assert not (locked_wheel / "target").exists()
