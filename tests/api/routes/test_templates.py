"""Templates over HTTP, and where the options of a job came from."""

from typing import Any

from tests.api.served import Served

JOB: dict[str, Any] = {
    "command": ["true"], "gpus": 0, "name": "n", "tags": ["a"], "time_limit_s": 60, "retries": 2, "note": "x",
    "cwd": "/", "env": ["TOKEN=secret"],
}  # fmt: skip


def test_a_template_has_the_options_of_its_job_and_nothing_else(api: Served) -> None:
    (job,) = api.ids(JOB)
    status, saved = api.ask("PUT", "/templates/my%20own", {"job": job})
    assert (status, saved["name"], saved["job"]) == (200, "my own", job)
    assert saved["options"] == {"gpus": 0, "tags": ["a"], "time_limit_s": 60.0, "retries": 2}
    assert api.ask("GET", "/templates/my%20own") == (200, saved)
    assert saved in api.ask("GET", "/templates")[1]["templates"]


def test_saving_again_replaces_it_and_removing_forgets_it(api: Served) -> None:
    first, second = api.ids(JOB, {**JOB, "retries": 5})
    api.ask("PUT", "/templates/again", {"job": first})
    api.ask("PUT", "/templates/again", {"job": second})
    assert api.ask("GET", "/templates/again")[1]["options"]["retries"] == 5
    assert api.ask("DELETE", "/templates/again")[0] == 200
    assert api.ask("DELETE", "/templates/again")[0] == 404


def test_unknown_templates_and_bad_names_are_refused(api: Served) -> None:
    (job,) = api.ids(JOB)
    api.ask("PUT", "/templates/large", {"job": job})
    assert api.ask("GET", "/templates/lrage")[1]["error"]["hint"] == "did you mean large?"
    assert api.ask("GET", "/templates/zzz")[1]["error"]["key"] == "template.unknown"
    assert api.ask("PUT", "/templates/x%0Ay", {"job": job})[0] == 400
    assert api.ask("PUT", "/templates/x", {"job": 999_999})[0] == 404
    for body in ({}, {"job": job, "form": {"gpus": "2"}}):
        status, refused = api.ask("PUT", "/templates/x", body)
        assert (status, refused["error"]["key"]) == (400, "template.job_or_form")


def test_origins_are_shown_and_forgotten_by_an_edit(api: Served) -> None:
    origins = {"gpus": "/p/.tarmac.toml", "tags": "template t"}
    (job,) = api.ids({**JOB, "origins": origins}, entry="held")
    assert api.ask("GET", f"/jobs/{job}")[1]["origins"] == origins
    assert api.ask("PATCH", f"/jobs/{job}", {"tags": ["b"]})[1]["origins"] == {"gpus": "/p/.tarmac.toml"}


def test_a_form_is_saved_without_what_is_about_one_job(api: Served) -> None:
    form = {"gpus": "2", "time": "90m", "tag": ["a", "b"], "name": "x", "env": ["TOKEN=secret"], "requeue": True}
    status, saved = api.ask("PUT", "/templates/typed", {"form": form})
    assert (status, saved["job"]) == (200, None)
    assert saved["options"] == {"gpus": 2, "time_limit_s": 5400, "tags": ["a", "b"], "requeue": True}
    assert saved["form"] == {"gpus": "2", "tag": ["a", "b"], "time": "90m", "requeue": True}
    status, refused = api.ask("PUT", "/templates/typed", {"form": {"time": "90"}})
    assert (status, refused["error"]["key"]) == (400, "form.mistake")
