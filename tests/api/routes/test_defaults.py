"""The defaults of the config file over HTTP. The file is read at each request, as the command line reads it."""

from collections.abc import Iterator

import pytest

from tests.api.served import Served


@pytest.fixture
def api_with_file(api: Served) -> Iterator[Served]:
    yield api
    (api.home / "config.toml").unlink(missing_ok=True)


def write(api: Served, text: str) -> None:
    (api.home / "config.toml").write_text(text)


def test_without_a_file_there_are_no_defaults(api_with_file: Served) -> None:
    status, shown = api_with_file.ask("GET", "/defaults")
    assert (status, shown["options"], shown["problem"]) == (200, [], None)
    assert shown["path"] == str(api_with_file.home / "config.toml")


def test_defaults_are_shown_with_their_help_and_without_values_of_variables(api_with_file: Served) -> None:
    write(
        api_with_file, '[defaults]\ngpus = 2\ngpu_mem = "8G"\ntag = ["a", "b"]\nenv = ["HF_TOKEN=hf_secret", "HOME"]\n'
    )
    options = {one["name"]: one for one in api_with_file.ask("GET", "/defaults")[1]["options"]}
    assert {name: one["value"] for name, one in options.items()} == {
        "gpus": "2",
        "gpu-mem": '"8G"',
        "tag": '["a", "b"]',
        "env": '["HF_TOKEN=***", "HOME"]',
    }
    assert "number of GPUs" in options["gpus"]["help"]


def test_a_file_with_a_mistake_says_which(api_with_file: Served) -> None:
    write(api_with_file, "[defaults]\ngpsu = 2\n")
    shown = api_with_file.ask("GET", "/defaults")[1]
    assert shown["options"] == []
    assert "defaults.gpsu" in shown["problem"]
    assert "gpus" in shown["hint"]
