"""`sweep --from`: CSV, JSON lines and YAML, with every value as it is written."""

from __future__ import annotations

import io
import sys
import tomllib
from pathlib import Path

import pytest

from tarmac.cli.files.sweep_rows import read_rows
from tarmac.errors import UserError

ROWS = [{"lr": "1e-3", "text": "a b, ü"}, {"lr": "0.0010", "text": ""}]
FILES = {
    "p.csv": 'lr,text\n1e-3,"a b, ü"\n\n0.0010,\n',
    "bom.csv": '\ufefflr,text\r\n1e-3,"a b, ü"\r\n0.0010,\r\n',
    "p.tsv": "lr\ttext\n1e-3\ta b, ü\n0.0010\t\n",
    "semicolons.csv": "lr;text\n1e-3;a b, ü\n0.0010;\n",
    "p.json": '[{"lr": 1e-3, "text": "a b, ü"},\n {"lr": 0.0010, "text": null}]\n',
    "lines.json": '{"lr": 1e-3, "text": "a b, ü"}\n{"lr": 0.0010, "text": null}\n',
    "p.jsonl": '{"lr": 1e-3, "text": "a b, ü"}\n{"lr": 0.0010, "text": null}\n',
    "p.yaml": "- {lr: 1e-3, text: 'a b, ü'}\n- lr: 0.0010\n  text: ''\n",
    "tilde.yaml": "- {lr: 1e-3, text: 'a b, ü'}\n- {lr: 0.0010, text: ~}\n",
    "null.yaml": "- {lr: 1e-3, text: 'a b, ü'}\n- {lr: 0.0010, text: null}\n",
    "nothing.yaml": "- {lr: 1e-3, text: 'a b, ü'}\n- lr: 0.0010\n  text:\n",
}


@pytest.mark.parametrize("name", FILES)
def test_all_kinds_give_the_same_rows(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    assert read_rows(str(tmp_path / name)) == ROWS


@pytest.mark.parametrize("name", ["p.csv", "semicolons.csv", "p.json", "p.jsonl", "p.yaml"])
def test_standard_input_is_recognized_by_its_content(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILES[name].encode())))
    assert read_rows("-") == ROWS


def test_a_number_and_a_truth_of_json_stay_as_written(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"a": 12345678901234567890, "b": true, "c": -1.50}\n')
    assert read_rows(str(tmp_path / "p.jsonl")) == [{"a": "12345678901234567890", "b": "true", "c": "-1.50"}]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("p.csv", "", "has no rows"),
        ("p.csv", "lr\n", "has no rows"),
        ("p.csv", "lr,lr\n1,2\n", "two columns named lr"),
        ("p.csv", "lr,b\n1,2\n1\n", "line 3: 1 value for 2 columns"),
        ("p.csv", "lr\n1\n2\n1\n", "line 4 repeats line 2"),
        ("p.csv", "l r\n1\n", "cannot be the name"),
        ("p.csv", 'lr\n"1\n', "line"),
        ("p.txt", "lr\n1\n", "unknown kind of file"),
        ("p.jsonl", "[1]\n", "is not an object"),
        ("p.jsonl", '{"a": 1}\n{"a"\n', "line 2"),
        ("p.jsonl", '{"a": [1]}\n', "is a list or an object"),
        ("p.jsonl", '{"a": 1}\n{"b": 1}\n', "unlike the first row"),
        ("p.yaml", "a: [1, 2]\n", "is not a list of rows"),
        ("p.yaml", "- {a: 1}\n- {a: [", "p.yaml, line 2: expected"),
        ("p.yaml", "- {a: 1}\n- {a: 1}", "row 2 repeats row 1"),
        ("p.json", '[{"a": 1},\n{"a"]', "line 2"),
        ("p.json", "[1]", "is not a list of objects"),
        ("p.csv", "a;b\n1\n", "line 2: 1 value for 2 columns"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, name: str, content: str, says: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UserError, match=says):
        read_rows(str(tmp_path / name))


def test_a_quoted_null_of_yaml_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("- {a: 'null', b: \"~\", c: nullable}\n")
    assert read_rows(str(tmp_path / "p.yaml")) == [{"a": "null", "b": "~", "c": "nullable"}]


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UserError, match=r"/nowhere/p\.csv: No such file"):
        read_rows("/nowhere/p.csv")


def test_the_plain_install_can_read_yaml() -> None:
    root = Path(__file__).parents[3]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert any(one.startswith("PyYAML") for one in project["dependencies"])
    run = (root / "requirements.lock").read_text().partition("# [run]")[2].partition("# [")[0]
    assert "\npyyaml==" in run
