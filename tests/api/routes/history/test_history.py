"""Ended jobs over HTTP: filters, searches, pages and what is refused."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest

from tarmac.api.routes.history.history import history_csv
from tarmac.api.schemas.history.history import HistoryCsvQuery
from tarmac.controller.history.history import HistoryPage
from tarmac.refusal import Refused
from tarmac.store.history.search import Found
from tests.api.served import Served
from tests.home import Home, until


def listed(api: Served, **query: object) -> list[int]:
    status, answer = api.ask("GET", f"/history?{urlencode(query)}")
    assert status == 200, answer
    return [job["id"] for job in answer["jobs"]]


def ended(api: Served, **job: object) -> int:
    (number,) = api.ids({"command": ["true"], "gpus": 0, **job})
    api.until(number, "succeeded", "failed", "cancelled")
    return number


def test_jobs_are_found_as_soon_as_they_have_ended(api: Served) -> None:
    first = ended(api, name="alpha-one", project="pages", tags=["t1"])
    second = ended(api, command=["false"], name="alpha-two", project="pages")
    (waiting,) = api.ids({"command": ["true"], "name": "alpha-three", "project": "pages"}, entry="held")
    assert listed(api, project="pages") == [second, first]
    assert listed(api, search="ALPHA one") == [first]
    assert listed(api, search="alpha", state="failed") == [second]
    assert listed(api, tag="t1") == [first]
    assert listed(api, name="alpha-t*") == [second]
    assert listed(api, project="pages", owner="nobody-here") == []
    api.ask("POST", "/jobs/kill", {"ids": [str(waiting)]})
    assert listed(api, project="pages") == [waiting, second, first]
    api.ask("POST", "/jobs/rm", {"ids": [str(second)]})
    assert listed(api, project="pages") == [waiting, first]


def test_a_job_that_is_retried_leaves_and_comes_back_as_the_newest(api: Served) -> None:
    first = ended(api, command=["false"], project="again")
    second = ended(api, project="again")
    assert listed(api, project="again") == [second, first]
    assert api.ask("POST", "/jobs/retry", {"ids": [str(first)]})[0] == 200
    api.until(first, "failed")
    assert listed(api, project="again") == [first, second]


def test_pages(api: Served) -> None:
    numbers = [ended(api, project="many") for _ in range(5)]
    found, after = [], {}
    while True:
        _, answer = api.ask("GET", f"/history?{urlencode({'project': 'many', 'limit': 2, 'fields': 'id', **after})}")
        found += answer["jobs"]
        if answer["next"] is None:
            break
        after = {"after": answer["next"]}
    assert found == [{"id": number} for number in reversed(numbers)]


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("state=running", "history.not_ended"),
        ("state=done", "history.not_ended"),
        ("after=x", "history.wrong_cursor"),
        ("after=1.", "history.wrong_cursor"),
        ("after=9999999999999999999.1", "history.wrong_cursor"),
        ("fields=nonsense", "jobs.unknown_field"),
    ],
)
def test_bad_queries_are_refused(api: Served, query: str, key: str) -> None:
    status, answer = api.ask("GET", f"/history?{query}")
    assert (status, answer["error"]["key"]) == (400, key)


def preview(api: Served, **body: object) -> dict[str, object]:
    status, answer = api.ask("POST", "/history/clean/preview", body)
    assert status == 200, answer
    return answer  # type: ignore[no-any-return]


def cleaned(api: Served, **body: object) -> int:
    removed, after = 0, 0
    while after is not None:
        status, answer = api.ask("POST", "/history/clean", {**body, "after": after})
        assert status == 200, answer
        removed += answer["removed"]
        after = answer["last"]
    return removed


def test_cleaning_removes_ended_jobs_and_their_logs_and_nothing_else(api: Served) -> None:
    api.client.clean(keep=0)
    first = ended(api, command=["echo", "one"])
    second = ended(api, command=["false"])
    third = ended(api, command=["echo", "three"])
    (waiting,) = api.ids({"command": ["true"], "after": [str(third)]}, entry="held")
    found = preview(api)
    assert (found["jobs"], found["kept"]) == (2, 1)
    assert found["oldest"] <= found["newest"]  # type: ignore[operator]
    assert preview(api, state="failed")["jobs"] == 1
    assert preview(api, before=1.0)["jobs"] == 0
    assert cleaned(api, state="failed") == 1
    assert api.ask("GET", f"/jobs/{second}")[0] == 404
    assert cleaned(api, limit=1) == 1
    assert listed(api) == [third]
    logs = {path.name for path in (api.home / "logs").iterdir()}
    assert f"{first}.1.log" not in logs
    assert f"{third}.1.log" in logs
    assert api.ask("GET", f"/jobs/{waiting}")[1]["state"] == "held"


def test_the_newest_are_kept(api: Served) -> None:
    api.client.clean(keep=0)
    numbers = [ended(api) for _ in range(4)]
    found = preview(api, keep=3)
    late = ended(api)
    assert found["jobs"] == 1
    assert cleaned(api, before=found["before"], before_id=found["before_id"]) == 1
    assert listed(api) == [late, *reversed(numbers[1:])]
    assert (preview(api, keep=4)["jobs"], preview(api, keep=99)["jobs"]) == (0, 0)
    assert cleaned(api, keep=2) == 2


def test_logs_that_a_crash_left_behind_go_with_the_next_cleaning(api: Served) -> None:
    number = ended(api, command=["echo", "left"])
    log = api.home / "logs" / f"{number}.1.log"
    content = log.read_bytes()
    api.client.rm(number)
    log.write_bytes(content)
    strange = api.home / "logs" / "999999.1.log"
    strange.write_text("of a job that this database never had")
    cleaned(api, before=1.0)
    assert not log.exists()
    assert strange.exists()
    strange.unlink()


def test_what_is_removed_is_dumped_before(api: Served) -> None:
    api.client.clean(keep=0)
    number = ended(api, command=["echo", "dumped"], name="dumped")
    dump = api.home / "dump.jsonl"
    api.ask("PUT", "/settings/history_dump", {"value": str(dump)})
    assert cleaned(api) == 1
    header, record = map(json.loads, dump.read_text().splitlines())
    assert header["tarmac_export"] == 1
    assert (record["job"]["id"], record["job"]["spec"]["name"]) == (number, "dumped")
    assert record["events"][0]["kind"] == "JobSubmitted"
    assert record["environment"]["PATH"]
    needed = ended(api, name="needed")
    (waiting,) = api.ids({"command": ["true"], "gpus": 0, "after": [f"{needed}:ok"]}, entry="held")
    assert cleaned(api) == 0  # and what stays is not dumped
    assert len(dump.read_text().splitlines()) == 2
    api.ask("POST", "/jobs/kill", {"ids": [str(waiting)]})
    assert cleaned(api) == 2
    dump.write_text("something else\n")
    ended(api)
    status, answer = api.ask("POST", "/history/clean", {})
    assert (status, answer["error"]["key"]) == (503, "history.not_a_dump")
    assert len(listed(api)) == 1
    api.ask("DELETE", "/settings/history_dump")


def test_settings_remove_the_oldest(api: Served) -> None:
    api.client.clean(keep=0)
    numbers = [ended(api) for _ in range(4)]
    assert api.ask("PUT", "/settings/history_limit", {"value": "2"})[0] == 200
    assert until(lambda: listed(api) == numbers[:1:-1])
    assert api.ask("PUT", "/settings/history_limit", {"value": "0"})[0] == 200
    assert api.ask("PUT", "/settings/history_dump", {"value": "relative"})[1]["error"]["key"] == "setting.not_absolute"
    assert api.ask("PUT", "/settings/history_dump", {"value": "/no/x"})[1]["error"]["key"] == "setting.no_directory"


def test_bad_requests_to_clean_are_refused(api: Served) -> None:
    assert api.ask("POST", "/history/clean", {"state": "queued"})[1]["error"]["key"] == "history.not_ended"
    both = {"owner": "x", "all_owners": True}
    assert api.ask("POST", "/history/clean", both)[1]["error"]["key"] == "history.owner_and_all"
    assert api.ask("POST", "/history/clean", {"keep": -1})[0] == 400


def test_what_people_write_about_an_ended_job_is_found(api: Served) -> None:
    number = ended(api, name="before")
    later = ended(api)
    labels = {"ids": [str(number)], "set_note": "Gradient exploded", "add_tags": ["weird"], "set_name": "after"}
    assert api.ask("POST", "/jobs/label", labels)[0] == 200
    assert listed(api, search="exploded") == [number]
    assert listed(api, tag="weird", name="after") == [number]
    assert listed(api, name="before") == []
    assert listed(api, limit=2) == [later, number]


def test_jobs_are_found_by_the_node_that_they_ran_on(api: Served) -> None:
    number = ended(api, project="placed")
    node = api.ask("GET", f"/jobs/{number}")[1]["node"]
    assert listed(api, project="placed", node=node) == [number]
    assert listed(api, project="placed", node="elsewhere") == []


def test_csv_is_what_the_command_line_prints(api: Served, shared_home: Home) -> None:
    numbers = [ended(api, project="sheet", name=name, tags=["a", "b"]) for name in ("=run", "two\nlines")]
    answer = api.get("/history/csv?project=sheet")
    assert (answer.headers.get_content_type(), answer.headers.get_filename()) == ("text/csv", "tarmac-history.csv")
    text = answer.read().decode()
    assert text == shared_home.tarmac("history", "--all", "--csv", "--project", "sheet").stdout
    found = list(csv.DictReader(io.StringIO(text)))
    assert [(int(row["id"]), row["name"]) for row in found] == [(numbers[1], "two\\nlines"), (numbers[0], "'=run")]
    assert api.get("/history/csv?project=sheet&limit=1").read().decode() == "".join(text.splitlines(True)[:2])
    assert api.ask("GET", "/history/csv?state=running")[0] == 400


def test_csv_is_refused_while_the_index_lacks_jobs() -> None:
    class Rebuilding:
        async def written(self) -> None: ...

        @property
        def history(self) -> Rebuilding:
            return self

        async def search(self, *_: object, **__: object) -> HistoryPage:
            return HistoryPage(Found([], is_last=True), 7)

    context: Any = SimpleNamespace(controller=Rebuilding())
    with pytest.raises(Refused) as refused:
        asyncio.run(history_csv(context, HistoryCsvQuery()))
    assert (refused.value.kind, refused.value.key) == ("unavailable", "history.unindexed")
