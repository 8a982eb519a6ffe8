"""Uploads, as any program may send them: checked, bounded, and only what was asked for."""

import pytest

from tarmac.shared.snapshots.objects import hash_of, packed
from tests.api.served import Served, UnixHttp
from tests.store.test_snapshots import a_tree, pack_of

BYTES = {"Content-Type": "application/octet-stream"}
NOTHING = {"command": ["true"], "gpus": 0}


def upload(api: Served, **files: bytes) -> str:
    top, objects = a_tree(**files)
    assert api.ask("POST", "/snapshots/objects", pack_of(objects), BYTES) == (200, {"added": len(objects)})
    status, answer = api.ask("PUT", f"/snapshots/{top.hex()}", {})
    assert (status, answer["is_stored"]) == (200, True)
    return top.hex()


def submit(
    api: Served, snapshot: object, *snapshots: dict[str, object], **more: object
) -> tuple[int, dict[str, object]]:
    job = NOTHING if snapshot is None else {**NOTHING, "snapshot": snapshot}
    body = {"cwd": "/", "environment": {"PATH": "/bin"}, "jobs": [job], "snapshots": list(snapshots), **more}
    return api.ask("POST", "/jobs", body)


def test_a_tree_is_known_once_it_is_complete_and_may_be_sent_again(api: Served) -> None:
    top, objects = a_tree(a=b"one", b=b"two")
    address = f"/snapshots/{top.hex()}"
    assert api.ask("GET", address)[1]["is_stored"] is False
    hashes = b"".join(objects)
    assert api.ask("POST", "/snapshots/missing", hashes, BYTES) == (200, {"missing": [0, 1, 2]})
    assert api.ask("PUT", address, {})[1]["is_stored"] is False
    for _ in range(2):
        upload(api, a=b"one", b=b"two")
    assert api.ask("GET", address)[1] == {"tree": top.hex(), "is_stored": True, "limit_bytes": 1 << 30}
    assert api.ask("POST", "/snapshots/missing", hashes, BYTES) == (200, {"missing": []})


def test_a_job_runs_a_tree_that_is_stored_and_no_other(api: Served) -> None:
    tree = upload(api, code=b"x")
    status, answer = submit(api, 0, {"tree": tree, "root": "/somewhere/project", "commit": "abc", "changed": 0})
    assert status == 201
    (job,) = answer["ids"]  # type: ignore[misc]
    shown = api.ask("GET", f"/jobs/{job}")[1]["snapshot"]
    assert (shown["tree"], shown["root"], shown["commit"], shown["changed"]) == (tree, "/somewhere/project", "abc", 0)
    assert shown["checkout"].endswith(f"/checkouts/{job}/project")
    api.until(job, "succeeded")
    status, answer = submit(api, 0, {"tree": "ab" * 32, "root": "/x"})
    assert (status, answer["error"]["key"]) == (409, "snapshot.unknown")  # type: ignore[index]


@pytest.mark.parametrize(
    ("snapshot", "given", "key"),
    [
        (1, {}, "snapshot.no_such_index"),
        (True, {}, "snapshot.no_such_index"),
        (0, {"root": "relative"}, "snapshot.root_not_absolute"),
        (0, {"directory": "../up"}, "snapshot.bad_path"),
        (0, {"directory": "/etc"}, "snapshot.bad_path"),
        (0, {"directory": "a/../../b"}, "snapshot.bad_path"),
        (0, {"links": ["a", ".."]}, "snapshot.bad_path"),
        (0, {"links": ["/etc"]}, "snapshot.bad_path"),
    ],
)
def test_paths_and_indices_that_lead_elsewhere_are_refused(
    api: Served, snapshot: object, given: dict[str, object], key: str
) -> None:
    tree = upload(api, code=b"x")
    status, answer = submit(api, snapshot, {"tree": tree, "root": "/x", **given})
    assert (status, answer["error"]["key"]) == (400, key)  # type: ignore[index]


def test_a_client_that_can_take_snapshots_is_told_to_if_the_setting_wants_them(api: Served) -> None:
    assert api.ask("PUT", "/settings/snapshot", {"value": "on"})[0] == 200
    try:
        status, answer = submit(api, None, can_snapshot=True)
        assert (status, answer["error"]["key"]) == (400, "snapshot.expected")  # type: ignore[index]
        assert submit(api, False, can_snapshot=True)[0] == 201
        assert submit(api, None)[0] == 201  # another program, which knows nothing about snapshots
    finally:
        api.ask("PUT", "/settings/snapshot", {"value": "off"})


@pytest.mark.parametrize(
    ("path", "body", "key"),
    [
        ("/snapshots/missing", b"short", "snapshot.cut_off"),
        ("/snapshots/objects", b"short", "snapshot.malformed"),
        ("/snapshots/objects", packed(hash_of(b"one"), b"two"), "snapshot.malformed"),
        ("/snapshots/objects", packed(hash_of(b"one"), b"one")[:-1], "snapshot.malformed"),
    ],
)
def test_what_is_not_a_list_of_objects_is_refused(api: Served, path: str, body: bytes, key: str) -> None:
    status, answer = api.ask("POST", path, body, BYTES)
    assert (status, answer["error"]["key"]) == (400, key)


def test_a_body_of_another_type_is_refused(api: Served) -> None:
    status, answer = api.ask("POST", "/snapshots/objects", b"", {"Content-Type": "text/plain"})
    assert (status, answer["error"]["key"]) == (415, "request.not_declared_bytes")


def test_a_name_that_is_not_a_hash_is_refused(api: Served) -> None:
    for name in ("x", "AB" * 32, "ab" * 33):
        status, answer = api.ask("GET", f"/snapshots/{name}")
        assert (status, answer["error"]["key"]) == (400, "snapshot.not_a_hash")


def test_the_objects_of_a_job_can_be_read(api: Served) -> None:
    tree = upload(api, code=b"content")
    (job,) = submit(api, 0, {"tree": tree, "root": "/x"})[1]["ids"]  # type: ignore[misc]
    connection = UnixHttp(api.home / "tarmac.sock")
    try:
        connection.request("POST", f"/api/v1/jobs/{job}/objects", hash_of(b"content"), BYTES)
        with connection.getresponse() as answer:
            assert answer.read() == packed(hash_of(b"content"), b"content")
    finally:
        connection.close()
    (plain,) = submit(api, None)[1]["ids"]  # type: ignore[misc]
    status, refused = api.ask("POST", f"/jobs/{plain}/objects", b"", BYTES)
    assert (status, refused["error"]["key"]) == (409, "snapshot.none")
    upload(api, code=b"of another job")
    for foreign in (bytes(32), hash_of(b"of another job"), hash_of(b"content") + hash_of(b"of another job")):
        status, refused = api.ask("POST", f"/jobs/{job}/objects", foreign, BYTES)
        assert (status, refused["error"]["key"]) == (404, "snapshot.not_in_tree")
    assert api.ask("POST", f"/jobs/{job}/objects", b"short", BYTES)[1]["error"]["key"] == "snapshot.cut_off"


def job_with(api: Served, **files: bytes) -> int:
    status, answer = submit(api, 0, {"tree": upload(api, **files), "root": "/project"})
    assert status == 201
    (job,) = answer["ids"]  # type: ignore[misc]
    assert isinstance(job, int)
    return job


def test_the_diff_of_two_jobs_lists_changed_lines(api: Served) -> None:
    first = job_with(api, a=b"one\ntwo\n", b=b"same\n", c=b"gone\n")
    second = job_with(api, a=b"one\n2\n", b=b"same\n", d=b"\0binary")
    status, found = api.ask("GET", f"/jobs/{second}/diff?other={first}")
    assert status == 200
    assert (found["before"], found["after"], found["more_files"], found["cut"]) == (first, second, 0, False)
    changes = {file["path"]: (file["change"], file["lines"]) for file in found["files"]}
    assert {path: change for path, (change, _) in changes.items()} == {"a": "changed", "c": "removed", "d": "added"}
    assert changes["a"][1][-2:] == ["-two", "+2"]
    assert changes["d"][1][-1] == "Binary files /dev/null and b/d differ"


def test_a_diff_needs_two_snapshots(api: Served) -> None:
    first = job_with(api, a=b"one")
    status, answer = submit(api, None)
    (second,) = answer["ids"]  # type: ignore[misc]
    for address in (f"/jobs/{second}/diff?other={first}", f"/jobs/{first}/diff?other={second}"):
        status, answer = api.ask("GET", address)
        assert (status, answer["error"]["key"]) == (409, "snapshot.none")  # type: ignore[index]
