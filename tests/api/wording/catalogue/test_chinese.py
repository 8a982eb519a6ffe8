"""The Chinese catalogue is complete: the same keys, values and cases as English, and every sentence is Chinese."""

import re
import subprocess
import sys
from collections.abc import Iterator
from string import Formatter

import pytest

from tarmac.api.wording.catalogue.catalogue import Language, find_language, render, say, say_declared, speak
from tarmac.api.wording.catalogue.message import Message
from tarmac.api.wording.chinese import CHINESE, DECLARED
from tarmac.api.wording.english import ENGLISH
from tarmac.controller.settings.table import SETTINGS
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.typed.option_groups import OPTION_GROUPS

HAN = re.compile(r"[\u4e00-\u9fff]")
# How a value is written, not how a sentence is built around it: both languages must write it in the same way.
MEASURES = {"size", "percent", "rounded", "duration", "in_words", "quoted", "hint"}
# Only values and punctuation, or names that are the same in both languages.
JOB_FLAGS = {option.flag for option in JOB_OPTIONS}
WITHOUT_WORDS = {
    "basis.several",
    "clauses.several",
    "config.setting",
    "config.unsafe",
    "field.choice",
    "field.inside",
    "form.mistake",
    "gpu.line",
    "gpu.list",
    "gpu.names",
    "limit.at_edit",
    "line.brief",
    "memory.named",
    "node.unreachable",
    "notify.on_host",
    "request.wrong_fields",
    "start.double_booking",
    "waiting.on_node",
}


def placeholders(template: str | None) -> list[tuple[str, str, str]]:
    """Name, format and argument of each."""
    parsed = Formatter().parse(template or "")
    return [(name, *(spec or "").partition(" ")[::2]) for _, name, spec, _ in parsed if name is not None]


def names(template: str | None) -> set[str]:
    return {name for name, _, _ in placeholders(template)}


def measures(template: str | None) -> set[tuple[str, str]]:
    return {(name, kind) for name, kind, _ in placeholders(template) if kind in MEASURES}


def cases(template: str | None) -> dict[str, set[str]]:
    """The values that each `select` names."""
    found: dict[str, set[str]] = {}
    for name, kind, argument in placeholders(template):
        if kind in {"select", "only"}:
            found.setdefault(name, set()).update(case.partition("=")[0] for case in argument.split("|"))
    return found


def fixed_words(template: str) -> str:
    """What a reader sees whatever the values are."""
    return "".join(literal + (spec or "") for literal, _, spec, _ in Formatter().parse(template))


def pairs() -> list[tuple[str, str | None, str | None]]:
    """Each English template with its translation."""
    shared = sorted(set(ENGLISH) & set(CHINESE))
    texts = [(key, ENGLISH[key].text, CHINESE[key].text) for key in shared]
    return texts + [(f"{key} (hint)", ENGLISH[key].hint, CHINESE[key].hint) for key in shared]


def test_every_message_is_translated_and_no_other() -> None:
    missing = [f"{key}: {ENGLISH[key].text!r}, {ENGLISH[key].hint!r}" for key in ENGLISH if key not in CHINESE]
    assert not missing, "\n".join(["add to src/tarmac/api/wording/chinese, in the file of the same name:", *missing])
    assert not set(CHINESE) - set(ENGLISH), "these have no English message"


def test_what_settings_and_options_are_for_is_translated() -> None:
    declared = {f"setting.{name}": setting.meaning for name, setting in SETTINGS.items()}
    declared |= {f"option.{option.name}": option.help for option in JOB_OPTIONS}
    declared |= {f"heading.{heading}": heading for heading, flags in OPTION_GROUPS if JOB_FLAGS & set(flags)}
    missing = [f"{key}: {declared[key]!r}" for key in declared if key not in DECLARED]
    assert not missing, "\n".join(["add to src/tarmac/api/wording/chinese/declared.py:", *missing])
    assert not set(DECLARED) - set(declared), "these have no English sentence"


def test_both_languages_have_the_same_hints() -> None:
    assert [key for key, english, chinese in pairs() if (english is None) != (chinese is None)] == []


def test_both_languages_name_the_same_values() -> None:
    wrong = {key: (english, chinese) for key, english, chinese in pairs() if names(english) != names(chinese)}
    assert not wrong


def test_both_languages_measure_values_alike() -> None:
    wrong = {key: (english, chinese) for key, english, chinese in pairs() if measures(english) != measures(chinese)}
    assert not wrong


def test_chinese_tells_the_same_cases_apart() -> None:
    wrong = {}
    for key, english, chinese in pairs():
        known = cases(chinese)
        lacking = {name: told - known.get(name, set()) for name, told in cases(english).items()}
        numbers = {"0"}  # none is a word in English, and a number in Chinese
        if any(told - numbers for told in lacking.values()):
            wrong[key] = lacking
    assert not wrong


@pytest.mark.parametrize("key", sorted(CHINESE))
def test_a_message_is_chinese_and_can_be_read(key: str) -> None:
    find_language("zh").templates(key)
    text, hint = CHINESE[key]
    assert bool(HAN.search(fixed_words(text))) != (key in WITHOUT_WORDS), "only exceptions may have no Chinese words"
    if hint is not None and fixed_words(hint) not in {"", "hint"}:
        assert HAN.search(fixed_words(hint))


@pytest.mark.parametrize("key", sorted(CHINESE))
def test_a_message_is_a_clause_in_chinese_punctuation(key: str) -> None:
    for words in filter(None, CHINESE[key]):
        assert not words.endswith((".", "。"))
        assert not re.search(r"[\u4e00-\u9fff][,;:?!]|[,;?!]\s*[\u4e00-\u9fff]", words), (
            "full-width marks beside Chinese"
        )
        assert not re.search(r"[\u4e00-\u9fff][A-Za-z0-9`]|[A-Za-z0-9`][\u4e00-\u9fff]", literals(words)), (
            "a blank between"
        )


def literals(template: str) -> str:
    """Without placeholders, each of which is a mark of its own here."""
    return "\n".join(literal for literal, _, _, _ in Formatter().parse(template))


@pytest.mark.parametrize("key", sorted(DECLARED))
def test_what_is_declared_elsewhere_is_chinese(key: str) -> None:
    assert HAN.search(DECLARED[key])
    assert not DECLARED[key].endswith(("。", "."))


@pytest.fixture
def chinese() -> Iterator[None]:
    speak("zh-CN,zh;q=0.9,en;q=0.8")
    yield
    speak(None)


@pytest.mark.usefixtures("chinese")
def test_values_are_written_as_chinese_writes_them() -> None:
    assert say("waiting.too_few_gpus_held", asked=2, free=0, total=4, jobs=(7,)) == (
        "申请了 2 张 GPU；共 4 张，0 张空闲（被任务 7 占用）"
    )
    assert say("jobs.unknown", jobs=[1, 2]) == "任务 1、2 不存在"
    assert say("requested.time_limit", seconds=9300) == "最多运行 2 小时 35 分钟"
    assert say("requested.models", models=["a100", "h100"]) == "型号 a100 或 h100"
    assert say("waiting.after", jobs=[3, 4, 5, 9], on="ok") == "等待任务 3-5、9 成功"
    assert render("agent.unreachable", node="gpu02").message == "无法连接节点 gpu02 的代理"
    assert render("agent.unreachable", node=None).message == "无法连接代理"
    assert say("requeue.failed", reason="exit", detail=1) == "以退出码 1 结束"
    assert say("requeue.failed", reason="oom-gpu", detail=None) == "显存不足"
    assert (
        say_declared("setting.max_queued", "waiting jobs of all users; 0: no limit") == "所有用户排队的任务数；0：不限"
    )


def test_the_chinese_catalogue_is_read_when_it_is_first_needed() -> None:
    script = """
import sys
from tarmac.api.wording.catalogue.catalogue import say, speak
speak("en"), say("gpu.available"), speak("zh")
assert "tarmac.api.wording.chinese" not in sys.modules
print(say("gpu.available"))
assert "tarmac.api.wording.chinese" in sys.modules
"""
    done = subprocess.run([sys.executable, "-X", "utf8", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "可用"


def test_a_language_without_a_message_says_it_in_english() -> None:
    half = Language(code="half", messages={"gpu.available": Message("可用")})
    assert "gpu.drained" not in half.messages
    assert say_declared("setting.none", "in English") == "in English"
