"""The API refuses the tags and the names of variables that the command line refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.api.served import Served

TAGS = [("", "label.empty_tag"), (" ", "label.empty_tag"), ("a,b", "label.bad_tag"), ("a\nb", "label.bad_tag")]


def refused(answer: tuple[int, Any]) -> str:
    status, body = answer
    assert status == 400
    key: str = body["error"]["key"]
    return key


@pytest.mark.parametrize(("tag", "key"), TAGS)
def test_a_wrong_tag_is_refused_by_submit_edit_clone_and_label(api: Served, tag: str, key: str) -> None:
    (held,) = api.ids({"command": ["true"], "gpus": 0, "tags": ["good one"]}, entry="held")
    ids, wrong = {"ids": [str(held)]}, {"tags": ["good", tag]}
    assert refused(api.submit({"command": ["true"], **wrong})) == key
    assert refused(api.ask("POST", "/jobs/edit", {**ids, "changes": wrong})) == key
    assert refused(api.ask("POST", "/jobs/clone", {**ids, "changes": wrong})) == key
    assert refused(api.ask("POST", "/jobs/label", {**ids, "add_tags": [tag]})) == key
    assert api.ask("GET", f"/jobs/{held}")[1]["tags"] == ["good one"]


@pytest.mark.parametrize("variable", ["A B=1", "A-B=1", "1A=1", "Ä=1"])
def test_a_wrong_name_of_a_variable_is_refused(api: Served, variable: str) -> None:
    (held,) = api.ids({"command": ["true"], "gpus": 0}, entry="held")
    changes = {"ids": [str(held)], "changes": {"env": [variable]}}
    assert refused(api.submit({"command": ["true"], "env": [variable]})) == "submit.env_bad_name"
    assert refused(api.ask("POST", "/jobs/edit", changes)) == "submit.env_bad_name"


@pytest.mark.parametrize(("name", "key"), [("", "submit.environment_bad_name"), ("A=B", "submit.environment_bad_name")])
def test_a_wrong_name_in_the_environment_is_refused(api: Served, name: str, key: str) -> None:
    assert refused(api.submit({"command": ["true"]}, environment={name: "1"})) == key


def test_functions_of_bash_in_the_environment_are_accepted(api: Served) -> None:
    assert api.submit({"command": ["true"], "gpus": 0}, environment={"BASH_FUNC_x%%": "() { :; }"})[0] == 201


@pytest.mark.parametrize("name", ["a b", "a=b", "1a", "a\0"])
def test_a_wrong_name_of_a_parameter_is_refused(api: Served, name: str) -> None:
    assert refused(api.submit({"command": ["true"], "params": {name: "1"}})) == "submit.param_name"


@pytest.mark.parametrize("name", ["%20", "a%0Ab", "%2e", "x" * 101])
def test_a_wrong_name_of_a_template_is_refused(api: Served, name: str) -> None:
    (held,) = api.ids({"command": ["true"], "gpus": 0}, entry="held")
    assert refused(api.ask("PUT", f"/templates/{name}", {"job": held})) == "template.bad_name"
