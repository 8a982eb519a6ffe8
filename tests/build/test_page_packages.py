"""The JavaScript packages of the page: fetched by name, version and hash, and made loadable as they are."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.build.registry import Registry

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    sys.modules.pop("page_packages", None)
    module = importlib.import_module("page_packages")
    monkeypatch.setattr(module, "WEB", str(tmp_path))
    monkeypatch.setattr(module, "LOCK", str(tmp_path / "page.lock"))
    monkeypatch.setattr(module, "PACKAGES", str(tmp_path / "packages"))
    return module


def lock(
    web: Path, modules: list[str], packages: dict[str, dict[str, str]], ours: dict[str, str] | None = None
) -> None:
    (web / "page.lock").write_text(json.dumps({"modules": modules, "packages": packages, "ours": ours or {}}))


def test_every_imported_module_is_copied_and_every_import_is_a_path(
    tool: ModuleType, registry: Registry, tmp_path: Path
) -> None:
    view = {
        "dist/view.mjs": 'import{a}from"./deep/a";import x from"@s/core";import"events";export*from\'@s/core/extra\';',
        "dist/deep/a.js": "export const a = 1;\n//# sourceMappingURL=a.js.map\n",
        "dist/unused.js": "nothing imports it",
        "dist/view.css": "a{}",
        "LICENSE": "do as you like",
    }
    core = {"c.js": "export default 1", "extra.mjs": 'const later = () => import("./c.js")', "node.js": "require()"}
    exports = {
        ".": {"require": "./node.js", "import": {"types": "./c.d.ts", "default": "./c.js"}},
        "./extra": "./extra.mjs",
    }
    packages = {
        "view": registry.publish("view", view, module="dist/view.mjs"),
        "@s/core": registry.publish("@s/core", core, exports=exports),
    }
    lock(tmp_path, ["view", "view/dist/view.css"], packages, {"events": "page/lib/events.js"})
    tool.install()
    found = {str(path.relative_to(tmp_path / "packages")): path for path in (tmp_path / "packages").rglob("*.*s")}
    assert set(found) == {
        "view/dist/view.mjs",
        "view/dist/deep/a.js",
        "view/dist/view.css",
        "@s/core/c.js",
        "@s/core/extra.mjs",
    }
    assert found["view/dist/view.mjs"].read_text() == (
        'import{a}from"./deep/a.js";import x from"../../@s/core/c.js";import"../../../page/lib/events.js";'
        'export*from"../../@s/core/extra.mjs";'
    )
    assert found["@s/core/extra.mjs"].read_text() == 'const later = () => import("./c.js")'
    assert found["view/dist/deep/a.js"].read_text() == "export const a = 1;\n"
    assert (tmp_path / "packages/view/LICENSE").read_text() == "do as you like"


def test_what_is_there_already_is_not_fetched_again(tool: ModuleType, registry: Registry, tmp_path: Path) -> None:
    lock(tmp_path, ["one"], {"one": registry.publish("one", {"a.js": "1"}, main="a.js")})
    tool.install()
    tool.install()
    assert len(registry.asked) == 1
    lock(tmp_path, ["one"], {"one": registry.publish("one", {"b.js": "2"}, main="b.js")})
    tool.install()
    assert not (tmp_path / "packages/one/a.js").exists()
    assert (tmp_path / "packages/one/b.js").read_text() == "2"


def test_another_content_than_the_locked_one_is_refused(
    tool: ModuleType, registry: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    locked = registry.publish("one", {"a.js": "1"}, main="a.js")
    registry.publish("one", {"a.js": "stolen"}, main="a.js")
    lock(tmp_path, ["one"], {"one": locked})
    tool.main()
    assert capsys.readouterr().err == (
        "the page is not installed, the command line works: one 1.0.0 is not what the lock file says\n"
    )
    assert not (tmp_path / "packages").exists()


def test_without_the_registry_one_line_says_so_and_the_old_packages_stay(
    tool: ModuleType, registry: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock(tmp_path, ["one"], {"one": registry.publish("one", {"a.js": "1"}, main="a.js")})
    tool.install()
    lock(tmp_path, ["two"], {"two": {"version": "1.0.0", "integrity": "sha512-"}})
    tool.main()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("the page is not installed, the command line works: http://127.0.0.1:")
    assert (tmp_path / "packages/one/a.js").read_text() == "1"


def test_the_lock_names_versions_and_hashes_and_no_address() -> None:
    text = (ROOT / "src/tarmac/web/page.lock").read_text(encoding="utf-8")
    assert "http" not in text
    packages = json.loads(text)["packages"]
    assert packages
    assert all(one["version"] and one["integrity"].startswith("sha512-") for one in packages.values())
