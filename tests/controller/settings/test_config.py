from pathlib import Path

import pytest

from tarmac.api.wording.refusals import refusal
from tarmac.controller.settings.config import load_config
from tarmac.refusal import Refused


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    return path


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    assert load_config(tmp_path / "config.toml") == {}


def test_values_are_read(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, 'gpu_id_style = "uuid"\ngrace_s = "2m"\nmax_load = "20%"\n'))
    assert config == {"gpu_id_style": "uuid", "grace_s": 120.0, "max_load": 0.2}


def test_gpus_without_a_driver_can_be_listed(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, '[[gpus]]\nmodel = "NPU"\nmemory = "24G"\n[[gpus]]\nindex = 4\n'))
    assert config["gpus"] == [
        {"index": 0, "model": "NPU", "memory_total_bytes": 24 * 2**30},
        {"index": 4, "model": "", "memory_total_bytes": 0},
    ]
    with pytest.raises(Refused, match=r"config.gpu_not_understood.*number=0"):
        load_config(written(tmp_path, '[[gpus]]\nmemory = "much"\n'))


def test_an_unknown_key_is_named_with_the_nearest_right_one(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        load_config(written(tmp_path, "gpu_id_stile = 'uuid'\n"))
    assert caught.value.key == "config.misspelled_key"
    assert (caught.value.values["key"], caught.value.values["near"]) == ("gpu_id_stile", "gpu_id_style")


@pytest.mark.parametrize(
    "line",
    [
        "gpu_id_style = 'number'",
        "grace_s = -1",
        "grace_s = 'soon'",
        "grace_s = true",
        "max_cpu_jobs = 1.5",
        "max_cpu_jobs = -1",
    ],
)
def test_a_wrong_value_is_refused_with_what_is_right(tmp_path: Path, line: str) -> None:
    with pytest.raises(Refused) as caught:
        load_config(written(tmp_path, line))
    words = refusal(caught.value)
    assert line.partition(" =")[0] in words.message
    assert str(words.hint).startswith("set ")


def test_settings_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"config.setting\(.*setting.stop_before_warning"):
        load_config(written(tmp_path, "idle_stop_s = '5m'\n"))
    assert load_config(written(tmp_path, "idle_stop_s = '5m'\nidle_warn_s = '1m'\n"))["idle_stop_s"] == 300


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="line 2"):
        load_config(written(tmp_path, "grace_s = 1\n= 3\n"))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(Refused, match=r"config.unreadable"):
        load_config(tmp_path / "config.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(Refused, match=r"config.unreadable"):
        load_config(tmp_path / "latin.toml")


def test_a_former_name_of_a_setting_is_still_read(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, "pause_after_failures = 3\n")) == {"suspend_after_failures": 3}
