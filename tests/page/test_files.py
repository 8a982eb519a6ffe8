"""How the files of the page refer to each other. No browser is needed."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tarmac.core.transitions import TRANSITIONS

PAGE = Path(__file__).parents[2] / "src/tarmac/web/page"
STATIC = re.compile(r'(?m)(?:^import|\bfrom)\s+"(/[^"]+)";')


def imports_of(path: str) -> list[str]:
    return STATIC.findall((PAGE.parent / path.lstrip("/")).read_text(encoding="utf-8"))


def test_the_browser_is_told_every_module_that_the_first_view_needs() -> None:
    """Otherwise it learns of each only when it has read the one before."""
    needed, unread = set(), ["/page/main.js"]
    while unread:
        path = unread.pop()
        for found in imports_of(path) if path.startswith("/page/") else []:
            if found not in needed:
                needed.add(found)
                unread.append(found)
    told = set(re.findall(r'rel="modulepreload" href="([^"]+)"', (PAGE / "index.html").read_text(encoding="utf-8")))
    assert needed - told == set()
    assert {path for path in told - needed if path.startswith("/page/")} == set()


def test_only_the_room_lib_knows_where_packages_are() -> None:
    others = [file for file in PAGE.rglob("*.js") if file.parent.name != "lib"]
    assert [file.name for file in others if '"/packages/' in file.read_text(encoding="utf-8")] == []


def test_no_text_becomes_markup() -> None:
    dangerous = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    sources = {file.name: file.read_text(encoding="utf-8") for file in PAGE.rglob("*.js")}
    assert sources
    assert [name for name, text in sources.items() if dangerous.search(text)] == []


def test_no_type_error_is_silenced() -> None:
    silent = re.compile(r"@ts-(ignore|expect-error|nocheck)")
    assert [file.name for file in PAGE.rglob("*.js") if silent.search(file.read_text(encoding="utf-8"))] == []


def told_kinds() -> Iterator[str]:
    """The kinds of events that the core adds to a job's story without a transition."""
    for file in (PAGE.parents[1] / "core").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            kinds = [one.value for one in node.keywords if one.arg == "kind"] if node.func.id == "StoryLine" else []
            kinds += node.args[2:3] if node.func.id == "tell" else []
            yield from (kind.value for kind in kinds if isinstance(kind, ast.Constant) and isinstance(kind.value, str))


def test_the_timeline_has_words_for_every_kind_of_event() -> None:
    kinds = {"JobSubmitted", *(cause for _, cause in TRANSITIONS), *told_kinds()}
    assert {"JobsLabelled", "Warned"} <= kinds
    for language in ("en", "zh"):
        words = (PAGE / f"words/{language}.js").read_text(encoding="utf-8")
        assert {kind for kind in kinds if f'"event.{kind}":' not in words} == set()
