"""The examples of docs/remote.md, typed on a laptop with a server named gpu01."""

import shutil
from pathlib import Path

from tests.docs.console import examples, keeps_promise
from tests.docs.test_examples import ROOT, output_of
from tests.home import BIN
from tests.ssh.lab import Lab
from tests.ssh.laptop import Laptop


def test_the_page_shows_what_really_happens(lab: Lab, tmp_path: Path) -> None:
    lab.host("gpu01").install_tarmac()
    shutil.copy(ROOT / "examples" / "train.py", tmp_path)
    reader = Laptop(lab, tmp_path)
    path = reader.environment["PATH"]
    reader.environment |= {"PATH": f"{lab.path / 'bin'}:{BIN}:{path}", "COLUMNS": "100"}
    found = examples(ROOT / "docs" / "remote.md")
    assert found
    for example in found:
        printed = output_of(example.command, reader, tmp_path)  # type: ignore[arg-type]
        assert keeps_promise(example.promised, printed), f"`{example.command}` printed:\n{printed}"
