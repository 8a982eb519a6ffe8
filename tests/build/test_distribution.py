"""The name under which Tarmac is distributed: `tarmac` on PyPI is another project."""

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_distribution_is_tarmac_gpu_and_the_command_is_tarmac() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["name"] == "tarmac-gpu"
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-scripts"] == {"scripts/tarmac": "tarmac"}


def test_nothing_tells_people_to_install_the_other_project() -> None:
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    texts = [path for name in files if (path := ROOT / name).suffix in {".md", ".py", ".toml"} and path.exists()]
    wrong = re.compile(r"(pip|pipx|uv pip|uv tool) install (-\S+ )*[\"']?tarmac(?!-gpu)\b")
    assert texts
    assert not [
        path.name for path in texts if path != Path(__file__) and wrong.search(path.read_text(encoding="utf-8"))
    ]
