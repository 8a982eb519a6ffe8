from dataclasses import fields
from typing import Any, get_args, get_type_hints

import pytest

from tarmac.api.wording.refusals import refusal
from tarmac.controller.settings.kinds import parsed, show
from tarmac.controller.settings.old_names import RENAMED, REPLACED, rows_of
from tarmac.controller.settings.settings import InForce, Settings
from tarmac.controller.settings.table import SETTINGS, find
from tarmac.core.model.rules import PerName, Rules
from tarmac.refusal import Refused

TYPES: dict[str, Any] = {
    "fraction": float, "seconds": float, "count": int, "size": int, "words": tuple[str, ...], "text": str,
    "flag": bool, "per name": PerName,
}  # fmt: skip


def test_live_values_beat_the_config_file_which_beats_the_defaults() -> None:
    settings = Settings({"max_load": 0.3, "grace_s": 5.0}, {"max_load": "40%"})
    assert (settings.in_force.rules.max_load, settings.origin("max_load")) == (0.4, "live")
    assert (settings.in_force.grace_s, settings.origin("grace_s")) == (5.0, "config")
    assert (settings.in_force.rules.max_memory, settings.origin("max_memory")) == (0.1, "default")


def test_every_rule_of_the_core_is_a_setting_with_the_same_default() -> None:
    assert Settings({}, {}).in_force.rules == Rules()
    assert not Settings({"backfill": False}, {}).in_force.rules.is_backfilling


def test_the_record_and_the_table_name_the_same_settings() -> None:
    rules, others = (
        {field.name: get_type_hints(record)[field.name] for field in fields(record)} for record in (Rules, InForce)
    )
    types = {"backfill": rules.pop("is_backfilling"), **rules, **others}
    del types["rules"]
    assert set(types) == set(SETTINGS)
    for setting in SETTINGS.values():
        expected = TYPES.get(setting.kind)
        assert types[setting.name] == expected or set(get_args(types[setting.name])) == set(setting.choices), setting


@pytest.mark.parametrize("name", list(SETTINGS))
def test_a_default_is_within_its_own_bounds(name: str) -> None:
    setting = SETTINGS[name]
    assert parsed(setting, show(setting.kind, setting.default)) == setting.default


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_load", "0.25", 0.25),
        ("max_load", "25%", 0.25),
        ("max_load", "1", 1.0),
        ("idle_warn_s", "90", 90.0),
        ("idle_warn_s", "30m", 1800.0),
        ("idle_warn_s", "1.5h", 5400.0),
        ("ignore_below", "512M", 512 * 2**20),
        ("ignore_below", "1.5GiB", 3 * 2**29),
        ("ignore_below", "0", 0),
        ("ignore_below", "100B", 100),
        ("max_cpu_jobs", "12", 12),
        ("idle_action", "stop", "stop"),
        ("ignore_processes", "Xorg, kwin_*", ("Xorg", "kwin_*")),
        ("half_life_s", "7d", 604800.0),
        ("backfill", "off", False),
        ("backfill", True, True),
        ("policy", "fairshare", "fairshare"),
        ("order", "expected", "expected"),
        ("shares", "1, ann=2, root=0, bot=-1", PerName(1.0, (("ann", 2.0), ("root", 0.0), ("bot", -1.0)))),
        ("shares", "ann=0.5", PerName(1.0, (("ann", 0.5),))),
        ("max_gpus_per_user", "ann = 2", PerName(0.0, (("ann", 2.0),))),
        ("max_gpus_per_project", 4, PerName(4.0)),
        ("max_gpus_per_project", "a=b=4", PerName(0.0, (("a=b", 4.0),))),
        ("admins", "ann,bob", ("ann", "bob")),
    ],
)
def test_values_are_read_as_people_write_them(name: str, text: str, value: Any) -> None:
    assert parsed(SETTINGS[name], text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_load", "1.5"),
        ("max_load", "-0.1"),
        ("max_load", "much"),
        ("max_load", "nan"),
        ("max_load", True),
        ("idle_warn_s", "soon"),
        ("idle_warn_s", "400d"),
        ("ignore_below", "8X"),
        ("ignore_below", "5"),
        ("ignore_below", 67108864),
        ("ignore_below", "5iB"),
        ("ignore_below", "9999999999T"),
        ("idle_warn_s", "0"),
        ("idle_warn_s", "0.5"),
        ("log_limit", "63K"),
        ("log_limit", "1B"),
        ("grace_s", "2d"),
        ("grace_s", "-1"),
        ("max_cpu_jobs", "1.5"),
        ("idle_action", "kill"),
        ("policy", "lottery"),
        ("order", "random"),
        ("half_life_s", "0"),
        ("backfill", "maybe"),
        ("shares", ""),
        ("shares", "ann"),
        ("shares", "1, 2"),
        ("shares", "ann=1, ann=2"),
        ("shares", "=1"),
        ("shares", "nan"),
        ("shares", True),
        ("max_gpus_per_user", "-1"),
        ("max_gpus_per_user", "1e30"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_right(name: str, text: Any) -> None:
    with pytest.raises(Refused) as caught:
        parsed(SETTINGS[name], text)
    assert f"set {name} to " in str(refusal(caught.value).hint)


@pytest.mark.parametrize("text", ["soon", "2d", "400d"])
def test_a_refused_duration_names_the_bounds_of_its_setting(text: str) -> None:
    with pytest.raises(Refused) as caught:
        parsed(SETTINGS["grace_s"], text)
    assert "from 0s to 1d" in str(refusal(caught.value).hint)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1, ann", "'ann' is not a number"),
        ("1, ann=x", "'x' is not a number"),
        ("-1", "-1 is less than 0"),
        ("1,2", "the number for all users is given twice"),
        ("1,a=1,a=2", "a is given twice"),
        ("=2", "'=2' does not name a user"),
        ("1e30", "1e+30 is more than 1000000000"),
    ],
)
def test_the_mistake_in_numbers_per_user_is_named(text: str, says: str) -> None:
    with pytest.raises(Refused) as caught:
        parsed(SETTINGS["max_gpus_per_user"], text)
    assert says in refusal(caught.value).message


@pytest.mark.parametrize(
    ("name", "text"), [("shares", "1, ann=2, root=0"), ("backfill", "off"), ("half_life_s", "31622400")]
)
def test_a_value_is_shown_as_it_was_meant(name: str, text: str) -> None:
    assert Settings({}, {name: text}).view(name)["value"] == text


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("ignore_below", "5", "add the unit: set ignore_below to 5G or 5M"),
        ("max_load", "20", "set max_load to 20% or 0.2"),
        ("max_load", "-1", "set max_load to a fraction from 0 to 1, such as 0.2 or 20%"),
        ("idle_warn_s", "0", "set idle_warn_s to a duration from 1s to 366d"),
        ("max_cpu_jobs", "-1", "set max_cpu_jobs to a whole number from 0 to 1000000"),
    ],
)
def test_a_refusal_names_the_range_and_what_a_bare_number_may_mean(name: str, text: str, says: str) -> None:
    with pytest.raises(Refused) as caught:
        parsed(SETTINGS[name], text)
    assert refusal(caught.value).hint == says


@pytest.mark.parametrize("pattern", ["*", "**", "?*", "[a-z]*", "Xorg,*"])
def test_a_pattern_that_matches_everything_is_refused(pattern: str) -> None:
    with pytest.raises(Refused, match=r"setting.ignores_everything"):
        parsed(SETTINGS["ignore_processes"], pattern)


@pytest.mark.parametrize(("name", "text"), [("idle_stop_s", "5m"), ("idle_warn_s", "3h")])
def test_a_job_cannot_be_stopped_before_it_is_warned(name: str, text: str) -> None:
    with pytest.raises(Refused, match=r"setting.stop_before_warning"):
        Settings({}, {}).changed(name, text)


def test_resetting_a_setting_is_checked_like_a_change() -> None:
    low = Settings({}, {}).changed("idle_warn_s", "1m").changed("idle_stop_s", "5m")
    with pytest.raises(Refused, match=r"setting.stop_before_warning"):
        low.changed("idle_warn_s", None)
    assert low.changed("max_load", "20%").in_force.rules.idle_stop_s == 300
    assert low.changed("idle_stop_s", None).changed("idle_warn_s", None).live == {}


def test_a_live_value_that_is_no_longer_valid_counts_as_not_set() -> None:
    settings = Settings({}, {"ignore_below": "5", "max_load": "20%"})
    assert (settings.origin("ignore_below"), settings.origin("max_load")) == ("default", "live")


def test_a_wrong_name_gets_the_nearest_right_one() -> None:
    with pytest.raises(Refused) as caught:
        find("keep_gpu_memroy")
    assert (caught.value.kind, caught.value.values["near"]) == ("not_found", "keep_gpu_memory")


@pytest.mark.parametrize("name", [*RENAMED, *REPLACED, "MAX_ERR_TIMES", "SAFETY_KEEP_GPU_MEMORY"])
def test_a_name_of_another_tool_is_refused_with_what_replaces_it(name: str) -> None:
    with pytest.raises(Refused) as caught:
        find(name)
    words = refusal(caught.value)
    assert words.message == f"{name} is a setting of another tool"
    assert " " in str(words.hint)


def test_a_shown_value_can_be_typed_again() -> None:
    settings = Settings({}, {})
    for setting in SETTINGS.values():
        assert parsed(setting, settings.view(setting.name)["value"]) == setting.default


def test_a_former_name_is_still_read() -> None:
    settings = Settings({}, {"pause_after_failures": "3"})
    assert settings.in_force.rules.suspend_after_failures == 3
    assert find("pause_after_failures").name == "suspend_after_failures"
    both = Settings({}, {"suspend_after_failures": "4", "pause_after_failures": "3"})
    assert both.in_force.rules.suspend_after_failures == 4
    assert rows_of("suspend_after_failures", None) == {"pause_after_failures": None, "suspend_after_failures": None}


def test_a_setting_takes_no_more_retries_than_the_option() -> None:
    assert parsed(SETTINGS["retries"], "1000") == 1000
    with pytest.raises(Refused):
        parsed(SETTINGS["retries"], "1001")
