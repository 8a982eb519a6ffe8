"""The catalogue and the code that uses it agree: keys, placeholders, formats. A second language proves the seam."""

import ast
import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

import pytest

from tarmac import errors as client_errors
from tarmac.api.errors import STATUS_OF
from tarmac.api.wording.catalogue import catalogue
from tarmac.api.wording.catalogue.catalogue import LANGUAGES, Language, render, render_in, say, speak
from tarmac.api.wording.catalogue.formats import FORMATS
from tarmac.api.wording.catalogue.message import Message
from tarmac.api.wording.english import ENGLISH
from tarmac.api.wording.refusals import SPELLED_OUT, refusal
from tarmac.controller.controller import Controller
from tarmac.controller.engine.decision import Decision
from tarmac.core.model.note import note
from tarmac.core.model.queue import Mode
from tarmac.core.policy.feasibility import TooFewGpusOnNode
from tarmac.refusal import invalid
from tests.api.asgi import send, with_controller

SOURCES = Path(catalogue.__file__).parents[3]
RAISED = {"invalid", "not_found", "not_allowed", "conflict", "too_new", "unavailable", "wrapped"}
SAID = {"say", "render", "note"}
HOMES = {"tarmac.refusal", "tarmac.api.wording.catalogue.catalogue", "tarmac.core.model.note"}
SERVER = ("api", "controller", "core", "nodes", "store", "web")


@dataclass(frozen=True)
class Use:
    """A call that names a message."""

    where: str
    key: str | None  # None: not a literal
    values: frozenset[str]
    is_raised: bool


def imported(tree: ast.Module) -> set[str]:
    """The functions that take a key, as far as this file has them."""
    modules = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in HOMES]
    return {alias.name for node in modules for alias in node.names} & (RAISED | SAID)


def uses() -> Iterator[Use]:
    for path in (path for room in SERVER for path in sorted((SOURCES / room).rglob("*.py"))):
        source = path.read_text()
        if not any(home in source for home in HOMES):
            continue
        tree = ast.parse(source)
        known = imported(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in known:
                first = node.args[0] if node.args else None
                key = first.value if isinstance(first, ast.Constant) else None
                names = frozenset(keyword.arg or "**" for keyword in node.keywords)
                yield Use(f"{path.relative_to(SOURCES)}:{node.lineno}", key, names, node.func.id in RAISED)


USES = list(uses())
# The calls that pass on the key and values of a note or a refusal.
FORWARDED = {"api/wording/notes.py", "api/wording/refusals.py"}


def placeholders(template: str | None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for _, name, spec, _ in Formatter().parse(template or ""):
        if name is not None:
            found.setdefault(name, []).append(spec or "")
    return found


def of_message(message: Message) -> dict[str, list[str]]:
    both = [placeholders(message.text), placeholders(message.hint)]
    return {name: [spec for found in both for spec in found.get(name, [])] for found in both for name in found}


def test_the_walk_finds_the_calls() -> None:
    assert len(USES) > 100
    assert {use.where.partition("/")[0] for use in USES} == set(SERVER)


def test_every_key_is_written_out_where_it_is_used() -> None:
    assert {use.where.partition(":")[0] for use in USES if use.key is None} == FORWARDED


def test_every_key_in_use_is_in_the_catalogue_and_every_message_is_used() -> None:
    used = {use.key for use in USES if use.key is not None}
    assert used - set(ENGLISH) - set(SPELLED_OUT) == set()
    assert set(ENGLISH) - used == set()


@pytest.mark.parametrize("use", [use for use in USES if use.key in ENGLISH], ids=lambda use: use.where)
def test_the_arguments_are_those_that_the_message_names(use: Use) -> None:
    if use.is_raised and use.key in SPELLED_OUT:
        return
    assert use.values == frozenset(of_message(ENGLISH[str(use.key)]))


@pytest.mark.parametrize("key", sorted(ENGLISH))
def test_every_template_uses_known_formats(key: str) -> None:
    specs = [spec for specs in of_message(ENGLISH[key]).values() for spec in specs]
    assert {spec.partition(" ")[0] for spec in specs} <= set(FORMATS)
    LANGUAGES["en"].templates(key)


@pytest.mark.parametrize("key", sorted(ENGLISH))
def test_a_message_is_a_clause_without_a_full_stop(key: str) -> None:
    text, hint = ENGLISH[key]
    for words in (text, hint or "x"):
        assert not words.endswith(".")
        assert "  " not in words.replace("prefixed  ", "").replace("join  ", "")


@pytest.fixture
def shouting() -> Iterator[None]:
    shout = {**FORMATS, "n": lambda number, noun: f"{number} x {noun}"}
    messages = {
        "infeasible.too_few_gpus": Message("{asked:n GPU} > {have}", "-g {have}!"),
        "paused.stopped": Message("STOPPED!"),
    }
    LANGUAGES["x-loud"] = Language(code="x-loud", messages=messages, formats=shout)
    try:
        yield
    finally:
        del LANGUAGES["x-loud"]
        speak(None)


@pytest.mark.usefixtures("shouting")
def test_another_language_is_used_when_asked_for() -> None:
    refused = invalid("submit.infeasible", lack=TooFewGpusOnNode(asked=9, have=4))
    speak("x-loud, en;q=0.5")
    assert refusal(refused) == ("infeasible.too_few_gpus", "9 x GPU > 4", "-g 4!")
    speak("fr")
    assert refusal(refused).message == "requested 9 GPUs; this machine has 4"
    speak("x-loud-CH")
    assert refusal(refused).message == "requested 9 GPUs; this machine has 4", "a subtag is not a registered language"


@pytest.mark.usefixtures("shouting")
def test_a_request_is_answered_in_the_language_of_its_header(tmp_path: Path) -> None:
    job = {"jobs": [{"command": ["true"], "gpus": 9}], "cwd": "/"}

    async def story(controller: Controller) -> None:
        for language, message in (("x-loud", "9 x GPU > 1"), ("de", "requested 9 GPUs; this machine has 1")):
            headers = {"Accept-Language": language}
            answer = await send(controller, "POST", "/jobs", [json.dumps(job).encode()], headers=headers)
            assert answer is not None
            error = json.loads(answer.body)["error"]
            assert (error["key"], error["message"]) == ("infeasible.too_few_gpus", message)

    with_controller(tmp_path, story)


@pytest.mark.usefixtures("shouting")
def test_a_refusal_by_a_plan_is_in_the_language_of_its_own_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the plan's turn comes when the commit of another request returns."""
    job = {"jobs": [{"command": ["true"]}], "cwd": "/"}

    async def story(controller: Controller) -> None:
        controller.state.load_mode(Mode(is_paused=True, is_draining=True, reason=note("paused.stopped")))
        commit = controller.store.commit
        monkeypatch.setattr(
            controller.store, "commit", lambda *batch: asyncio.get_running_loop().call_later(0.1, commit, *batch)
        )
        other = controller.engine.begin(lambda _: Decision(answer=None, settings={"other": "1"}))
        asked = send(controller, "POST", "/jobs", [json.dumps(job).encode()], headers={"Accept-Language": "x-loud"})
        answer, _ = await asyncio.gather(asked, other)
        assert answer is not None
        assert json.loads(answer.body)["error"]["message"].endswith("by Tarmac: STOPPED!")

    with_controller(tmp_path, story)


@pytest.mark.usefixtures("shouting")
def test_what_is_not_translated_is_said_in_english() -> None:
    assert render_in("x-loud", "agent.unreachable", {"node": None}).message == "the agent is unreachable"
    speak("x-loud")
    assert say("jobs.unknown", jobs=[1, 2]) == "jobs 1, 2 do not exist"


def test_a_refusal_within_a_refusal_gives_its_words() -> None:
    inner = invalid("setting.misspelled", name="max_laod", near="max_load")
    assert refusal(invalid("config.setting", path="c.toml", problem=inner)) == (
        "config.setting", "c.toml: unknown setting max_laod", "did you mean max_load?"
    )  # fmt: skip


def test_numbers_decide_between_one_and_many() -> None:
    assert render("jobs.unknown", jobs=[7]).message == "job 7 does not exist"
    assert render("start.wrong_count", job=7, asked=1, named=2).message == "job 7 requests 1 GPU, but 2 are named"


def test_kinds_have_the_status_that_the_client_expects() -> None:
    kinds = {kind.code: kind.status for kind in client_errors.TarmacError.__subclasses__()}
    assert {code: status for code, status in kinds.items() if code in STATUS_OF} == STATUS_OF
