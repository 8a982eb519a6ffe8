"""Origins that this version wrote, that another version wrote, and attempts without any."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tarmac.core.model.status import RunName
from tarmac.nodes.run_origins import OriginEntry, packed, read_origins
from tests.nodes.write_origin import FOLDER, GPUS, a_full_job

UUIDS = [gpu.uuid for gpu in GPUS]
Damage = Callable[[dict[str, Any]], Any]


def entry(body: Any) -> OriginEntry:
    return OriginEntry(job=7, attempt=2, body=body if isinstance(body, str) else json.dumps(body))


def body() -> dict[str, Any]:
    written: dict[str, Any] = json.loads(packed(a_full_job(), GPUS, "/tmp/out")["body"])
    return written


def test_an_origin_comes_back_as_it_was_packed() -> None:
    (origin,), guessed = read_origins([entry(body())], [])
    assert (origin.run, origin.submitted_at, origin.gpus) == (RunName(7, 2), 100.0, GPUS)  # type: ignore[arg-type]
    assert (origin.spec.name, origin.spec.stdout, origin.spec.environment) == ("full", "/tmp/out", "")
    assert guessed == ()


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_origins_of_every_release_are_understood(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (origin,), _ = read_origins([entry(path.read_text())], [])
    assert caplog.records == [], "nothing is left out"
    assert (origin.gpus, origin.spec.name, origin.spec.request.gpus) == (GPUS, "full", 2)


def without(name: str) -> Damage:
    return lambda written: written["spec"].pop(name)


def with_spec(**changes: Any) -> Damage:
    return lambda written: written["spec"].update(changes)


DAMAGES: dict[str, Damage] = {
    "a field is missing": without("umask"),
    "another field is missing": without("owner"),
    "an unknown tier": with_spec(tier="urgent"),
    "a request of another form": with_spec(request=["2 GPUs"]),
    "a command of another form": with_spec(command={"argv": ["python"]}),
    "no spec": lambda written: written.pop("spec"),
    "a spec of another form": lambda written: written.update(spec="python train.py"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_attempt_holds_its_gpus_although_its_job_is_not_understood(damage: Damage) -> None:
    written = body()
    damage(written)
    (origin,), guessed = read_origins([entry(written)], [])
    assert (origin.submitted_at, origin.gpus, guessed) == (100.0, GPUS, ())
    assert origin.spec.command or origin.spec.shell, "it can be shown"


def test_what_is_understood_of_the_job_is_kept() -> None:
    written = body()
    del written["spec"]["umask"]
    (origin,), _ = read_origins([entry(written)], [])
    spec = origin.spec
    assert (spec.owner, spec.command, spec.cwd) == ("ann", ("python", "train.py"), "/home/ann")
    assert (spec.name, spec.stdout) == ("full", "/tmp/out")


def test_a_booking_that_is_not_understood_holds_whole_gpus() -> None:
    written = body()
    for gpu in written["gpus"]:
        gpu["part"] = "half"
    del written["gpus"][0]["index"]
    (origin,), _ = read_origins([entry(written)], [])
    assert [(gpu.uuid, gpu.part, gpu.memory_bytes) for gpu in origin.gpus] == [(uuid, 1.0, 0) for uuid in UUIDS]
    assert origin.gpus[1].parent == "GPU-b"


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"submitted_at": "today", "gpus": 3}', "{" * 100])
def test_an_attempt_whose_submit_is_not_understood_is_a_guess(text: str) -> None:
    """It belongs to the job with its id, if there is one."""
    certain, (guess,) = read_origins([entry(text)], [])
    assert (certain, guess.run) == ((), RunName(7, 2))  # type: ignore[arg-type]


def a_guess(**changes: Any) -> dict[str, Any]:
    gpus = [{"uuid": "MIG-b", "index": 3, "parent": "GPU-b"}]
    told = {"pid": 41, "started_at": 5.0, "user": "ann", "argv": ["python", "train.py"], "cwd": "/home/ann"}
    return {"job": 7, "attempt": 2, "gpus": gpus, **told, **changes}


def test_a_job_is_made_from_what_its_process_tells() -> None:
    certain, (guess,) = read_origins([], [a_guess()])
    spec = guess.spec
    assert (certain, guess.run, guess.submitted_at) == ((), RunName(7, 2), 5.0)  # type: ignore[arg-type]
    assert [(gpu.uuid, gpu.index, gpu.parent, gpu.part) for gpu in guess.gpus] == [("MIG-b", 3, "GPU-b", 1.0)]
    assert (spec.owner, spec.command, spec.cwd, spec.request.gpus) == ("ann", ("python", "train.py"), "/home/ann", 1)


def test_a_process_that_tells_little_is_a_job_all_the_same() -> None:
    _, (guess,) = read_origins([], [a_guess(user=None, argv=[], cwd=None, gpus=[])])
    assert (guess.spec.owner, guess.spec.command, guess.spec.cwd) == ("", ("?",), "/")


def test_a_guess_of_another_form_does_not_hide_the_others() -> None:
    _, guessed = read_origins([], ["what?", {"job": 8, "attempt": 1, "body": "{}"}, a_guess()])
    assert [guess.run.job for guess in guessed] == [7]
