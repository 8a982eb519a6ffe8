"""Addresses of experiment trackers in logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tarmac.agent.files import links
from tarmac.agent.files.links import find_links

RUN = "https://wandb.ai/ann/project/runs/a1b2c3d4"


def found(path: Path, *, offset: int = 0, is_over: bool = True) -> tuple[list[tuple[str, str]], int]:
    request: Any = {"type": "find_links", "files": [{"path": str(path), "offset": offset, "is_over": is_over}]}
    (answer,) = find_links(request, lambda _: None)["found"]
    return [(link["kind"], link["url"]) for link in answer["links"]], answer["offset"]


@pytest.mark.parametrize(
    ("line", "link"),
    [
        (f"wandb: 🚀 View run at {RUN}\n", ("wandb", RUN)),
        (f"wandb: View run \x1b[33mfit\x1b[0m at: \x1b[34m\x1b[4m{RUN}\x1b[0m\n", ("wandb", RUN)),
        ("wandb: View run at http://lab:8080/ann/p/runs/a1b2c3d4.\n", ("wandb", "http://lab:8080/ann/p/runs/a1b2c3d4")),
        (
            "View run x at: http://127.0.0.1:5000/#/experiments/0/runs/0f\n",
            ("mlflow", "http://127.0.0.1:5000/#/experiments/0/runs/0f"),
        ),
        ("TensorBoard 2.17.0 at http://localhost:6006/ (Press CTRL+C to quit)\n", ("tensorboard", "http://localhost:6006/")),
        ("wandb: https://user:secret@wandb.ai/ann/p/runs/a1b2c3d4\n", ("wandb", "https://wandb.ai/ann/p/runs/a1b2c3d4")),
    ],
)  # fmt: skip
def test_addresses_of_trackers_are_found(tmp_path: Path, line: str, link: tuple[str, str]) -> None:
    (tmp_path / "log").write_text(f"start\n{line}end\n")
    assert found(tmp_path / "log")[0] == [link]


@pytest.mark.parametrize(
    "line", ["see https://example.com/docs", "https://wandb.ai", "wandb: run `wandb login`", "://"]
)
def test_other_addresses_are_not_kept(tmp_path: Path, line: str) -> None:
    (tmp_path / "log").write_text(f"{line}\n")
    assert found(tmp_path / "log")[0] == []


def test_each_address_is_kept_once_and_the_search_continues_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(f"wandb: {RUN}\nwandb: {RUN}\nwandb: {RUN[:-3]}")
    kept, offset = found(path, is_over=False)
    assert kept == [("wandb", RUN)]
    path.write_text(f"{path.read_text()}e5f\n")  # the last line is whole now
    assert found(path, offset=offset, is_over=False)[0] == [("wandb", f"{RUN[:-3]}e5f")]


def test_of_a_large_log_the_beginning_and_the_end_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "_PART", 200)
    other = RUN.replace("a1b2", "ffff")
    (tmp_path / "log").write_text(f"wandb: {RUN}\n" + "line\n" * 1000 + f"wandb: {other}\n")
    assert found(tmp_path / "log")[0] == [("wandb", RUN), ("wandb", other)]


def test_a_log_that_is_missing_or_was_cut_has_none(tmp_path: Path) -> None:
    assert found(tmp_path / "missing", offset=7) == ([], 7)
    (tmp_path / "log").write_text("x\n")
    assert found(tmp_path / "log", offset=1000) == ([], 2)
