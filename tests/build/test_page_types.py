"""The compiler that checks the types of the page: fetched by name, version and hash."""

from __future__ import annotations

import importlib
import json
import platform
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.build.registry import Registry

ROOT = Path(__file__).parents[2]
COMPILER = "@typescript/native"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    for name in ("page_packages", "page_types"):
        sys.modules.pop(name, None)
    module = importlib.import_module("page_types")
    monkeypatch.setattr(module, "ROOT", str(tmp_path))
    monkeypatch.setattr(module, "LOCK", str(tmp_path / "typescript.lock"))
    monkeypatch.setattr(module, "HOME", str(tmp_path / "page-types"))
    monkeypatch.setattr(module.page_packages, "LOCK", str(tmp_path / "page.lock"))
    monkeypatch.delenv("CI", raising=False)
    return module


def lock(tmp_path: Path, compiler: dict[str, str], modules: list[str], packages: dict[str, Any]) -> None:
    ours = {platform.machine(): {"name": COMPILER, "integrity": compiler["integrity"]}}
    (tmp_path / "typescript.lock").write_text(json.dumps({"version": "1.0.0", "packages": ours}))
    (tmp_path / "page.lock").write_text(json.dumps({"modules": modules, "packages": packages, "ours": {}}))


def a_compiler(registry: Registry, exits: int = 0) -> dict[str, str]:
    return registry.publish(COMPILER, {"lib/tsc": f'#!/bin/sh\necho "$@" > asked\nexit {exits}\n'})


def test_each_module_of_the_page_leads_to_the_types_of_its_package(
    tool: ModuleType, registry: Registry, tmp_path: Path
) -> None:
    files = {"dist/view.mjs": "", "types/view.d.ts": "export const a: 1;", "README.md": "", "dist/view.css": ""}
    view = registry.publish("view", files, module="dist/view.mjs", types="types/view.d.ts")
    lock(tmp_path, a_compiler(registry), ["view", "view/dist/view.css"], {"view": view})
    assert tool.main() == 0
    home = tmp_path / "page-types"
    assert (tmp_path / "asked").read_text() == f"--project {tmp_path}\n"
    assert (home / "packages/view/dist/view.d.mts").read_text() == (
        'export * from "view";\nexport { default } from "view";\n'
    )
    assert sorted(path.name for path in (home / "node_modules/view").rglob("*.*")) == ["package.json", "view.d.ts"]
    asked = len(registry.asked)
    assert tool.main() == 0
    assert len(registry.asked) == asked, "nothing is fetched twice"


def test_a_wrong_type_fails_the_check(tool: ModuleType, registry: Registry, tmp_path: Path) -> None:
    lock(tmp_path, a_compiler(registry, exits=2), [], {})
    assert tool.main() == 2


def test_without_the_compiler_one_line_says_so_and_only_ci_fails(
    tool: ModuleType,
    registry: Registry,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lock(tmp_path, {"integrity": "sha512-other"}, [], {})
    a_compiler(registry)
    assert tool.main() == 0
    assert capsys.readouterr().err == (
        "the types of the page were not checked: @typescript/native 1.0.0 is not what the lock file says\n"
    )
    monkeypatch.setattr(platform, "machine", lambda: "pdp11")
    monkeypatch.setenv("CI", "true")
    assert tool.main() == 1
    assert "typescript.lock names no compiler for pdp11" in capsys.readouterr().err


def test_the_lock_names_versions_and_hashes_and_no_address() -> None:
    text = (ROOT / "tools/typescript.lock").read_text(encoding="utf-8")
    assert "http" not in text
    assert all(one["integrity"].startswith("sha512-") for one in json.loads(text)["packages"].values())
