from pathlib import Path

import pytest

from tarmac.controller.config import Config, ConfigError, load_config


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    return path


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    assert load_config(tmp_path / "config.toml") == Config()


def test_values_are_taken_over(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, 'gpu_id_style = "uuid"\ngrace_s = 2.5\nmax_cpu_jobs = 3\n'))
    assert config == Config(gpu_id_style="uuid", grace_s=2.5, max_cpu_jobs=3)
    assert config.cpu_job_slots == 3


def test_an_unknown_key_is_named_with_the_nearest_right_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(written(tmp_path, "gpu_id_stile = 'uuid'\n"))
    assert "unknown key gpu_id_stile" in caught.value.message
    assert "gpu_id_style" in str(caught.value.hint)


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
    with pytest.raises(ConfigError) as caught:
        load_config(written(tmp_path, line))
    assert line.partition(" =")[0] in caught.value.message
    assert str(caught.value.hint).startswith("set ")


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="line 2"):
        load_config(written(tmp_path, "grace_s = 1\n= 3\n"))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "config.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "latin.toml")
