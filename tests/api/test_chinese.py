"""A request in Chinese is answered in Chinese on every route, and so is every event of a stream."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tarmac.api.routes.table import ROUTES
from tarmac.controller.controller import Controller
from tarmac.core.events import JobsSubmitted, QueuePaused
from tarmac.core.model.note import note
from tests.api.asgi import BODY, DIGEST, named, send, with_controller
from tests.api.sse.listener import Stream, app_of
from tests.core.support.builders import a_spec

HAN = re.compile(r"[\u4e00-\u9fff]")
LATIN = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")  # an English clause
CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}


async def answered(
    controller: Controller, method: str, path: str, body: Any = None, *, user: str = "ann", **headers: str
) -> Any:
    chunks = () if body is None else (json.dumps(body).encode(),)
    answer = await send(controller, method, path, chunks, guard=named(user), headers=CHINESE | headers)
    assert answer is not None
    return json.loads(answer.body)


def assert_chinese(error: dict[str, Any]) -> None:
    for text in filter(None, (error["message"], error["hint"])):
        assert HAN.search(text), error
        assert not LATIN.search(re.sub(r"`[^`]*`", "", text)), error


def test_every_route_refuses_in_chinese(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        for route in ROUTES:
            path = re.sub(r"{[^}]*}", "1", route.path)
            newer = await answered(controller, route.method, path, user="eve", **{"Tarmac-Api": "999"})
            assert newer["error"]["key"] == "request.newer_client"
            assert_chinese(newer["error"])
            refusals = [await answered(controller, "TRACE", path)]
            if route.admins_may is not None:
                refusals.append(await answered(controller, route.method, path, {}))
            if route.body is not None:
                refusals.append(await answered(controller, route.method, path, {"nonsense": 1}, user="eve"))
            if route.query is not None:
                refusals.append(await answered(controller, route.method, f"{path}?nonsense=1", user="eve"))
            for refused in refusals:
                assert_chinese(refused["error"])
        assert_chinese((await answered(controller, "GET", "/nowhere"))["error"])

    with_controller(tmp_path, story)


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("POST", "/jobs", {"jobs": [{"command": ["true"], "gpus": 9}], "cwd": "/"}, "申请了 9 张 GPU；本机只有 1 张"),
        ("GET", "/jobs/7", None, "任务 7 不存在"),
        ("POST", "/jobs/kill", {"ids": ["x"]}, "'x' 不是任务 ID"),
        ("POST", "/jobs/retry", {"ids": ["1"]}, "任务 1 还没有结束，状态是“已挂起”"),
        ("POST", "/jobs/1/move", {"position": 0}, "position 应为：1 到 2147483648 的整数"),
        ("GET", "/jobs?limit=x", None, "limit 应为："),
        ("GET", "/groups/nothing", None, "没有名为 'nothing' 的任务组"),
        ("PUT", "/settings/max_load", {"value": "much"}, "只有管理员可以修改设置"),
        ("GET", "/settings/max_laod", None, "没有设置项 max_laod"),
        ("POST", "/reservations/3/end", None, "预留 3 不存在"),
        ("GET", "/templates/big", None, "模板 big 不存在"),
        ("GET", "/gpus/9/samples?since_s=60", None, "没有 GPU 9"),
        ("GET", "/events?jobs=x", None, "jobs=x 不是 ID 列表"),
        ("POST", "/adopt", {"pid": 1}, "不能接管进程 1"),
    ],
)
def test_a_refusal_says_what_happened(tmp_path: Path, method: str, path: str, body: Any, message: str) -> None:
    async def story(controller: Controller) -> None:
        error = (await answered(controller, method, path, body))["error"]
        assert error["message"].startswith(message)
        assert_chinese(error)

    with_controller(tmp_path, story)


def test_why_a_job_waits_is_in_chinese(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        await submit(controller, queued=1)
        await controller.engine.commit(QueuePaused(by="eve", reason=note("paused.stopped")))
        await submit(controller, queued=2)
        why = await answered(controller, "GET", "/jobs/4/why")
        assert why["reasons"][0]["text"].startswith("eve 于 ")
        assert why["reasons"][0]["text"].endswith("暂停了队列：已停止；原先运行的任务排在队列最前面")
        assert why["lines"][0] == "ann 的任务 4：排队中，前面有 1 个任务"
        assert all(HAN.search(line) for line in why["lines"])
        held = await answered(controller, "GET", "/jobs/1/why")
        assert re.fullmatch(r".* 起被 ann 挂起；运行 `tarmac release` 放行", held["reasons"][0]["text"])
        listed = await answered(controller, "GET", "/jobs?fields=id,state,reason")
        assert all(HAN.search(job["reason"]) for job in listed["jobs"] if job["state"] in {"queued", "held"})

    with_controller(tmp_path, story)


def test_what_settings_mean_is_in_chinese_for_a_chinese_reader_only(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        settings = (await answered(controller, "GET", "/settings"))["settings"]
        assert all(HAN.search(setting["meaning"]) for setting in settings)
        changed = await answered(controller, "PUT", "/settings/max_load", {"value": "0.5"}, user="eve")
        assert HAN.search(changed["meaning"])
        for headers in ({}, {"Accept-Language": "en"}):
            plain = await send(controller, "GET", "/settings", guard=named("ann"), headers=headers)
            assert plain is not None
            assert not HAN.search(plain.body.decode())

    with_controller(tmp_path, story)


def test_forms_and_their_mistakes_are_in_chinese(tmp_path: Path) -> None:
    async def story(controller: Controller) -> None:
        options = (await answered(controller, "GET", "/job-options"))["options"]
        assert all(HAN.search(option["help"]) for option in options)
        form = {"kind": "job", "command": "true", "options": {"time": "6", "gpus": "x"}, "dry_run": True}
        mistakes = (await answered(controller, "POST", "/jobs/form", form))["mistakes"]
        assert {one["field"]: one["message"] for one in mistakes} == {
            "time": "6：单位是什么？6m 是分钟，6h 是小时，6s 是秒",
            "gpus": "x：应为整数",
        }
        assert all(HAN.search(one["hint"]) for one in mistakes)

    with_controller(tmp_path, story)


def test_each_stream_is_in_the_language_of_its_reader(tmp_path: Path) -> None:
    """Both are open at once; the first one made the task that encodes for both."""

    async def story(controller: Controller) -> None:
        app = app_of(controller)
        chinese = Stream(app, accept_language="zh")
        await chinese.until(b"event: hello")
        english = Stream(app, accept_language="en")
        await english.until(b"event: hello")
        await controller.engine.commit(QueuePaused(by="eve", reason=note("paused.stopped")))
        await submit(controller, queued=1)
        await chinese.until("暂停了队列：已停止".encode())
        await english.until(b"eve paused the queue")
        assert "已停止；原先运行的任务".encode() in chinese.text
        assert not HAN.search(english.text.decode())
        assert b"paused the queue" not in chinese.text
        await asyncio.gather(chinese.close(), english.close())
        again = Stream(app, accept_language="zh", last_event_id="1")  # what was missed is said in Chinese, too
        await again.until("暂停了队列：已停止".encode())
        await again.close()

    with_controller(tmp_path, story)


async def submit(controller: Controller, *, queued: int) -> None:
    specs = tuple(a_spec(owner="ann", environment=DIGEST) for _ in range(queued))
    await controller.submissions.submit(JobsSubmitted(specs=specs, entry="queued", by="ann"), {DIGEST: BODY}, None)
