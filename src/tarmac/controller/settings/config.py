"""The config file: TOML, every key known, every value checked. A mistake is refused, never ignored."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from tarmac.controller.notify.targets import NOTIFY, read_targets
from tarmac.controller.settings.checks import check_order
from tarmac.controller.settings.kinds import parsed, read_size
from tarmac.controller.settings.node_entries import NODES, read_nodes
from tarmac.controller.settings.old_names import with_present_names
from tarmac.controller.settings.table import SETTINGS
from tarmac.refusal import Refused, invalid
from tarmac.shared.job_options import JOB_OPTIONS
from tarmac.shared.own import strict_modes

if TYPE_CHECKING:
    from pathlib import Path

    from tarmac.shared.frames.to_agent import ListedGpu

DEFAULTS = "defaults"  # options of jobs
LISTED = "gpus"  # GPUs that no driver reports, as a list of tables


def load_config(path: Path) -> dict[str, Any]:
    """Its values by name; empty without a file. A file that another user could have written is refused."""
    try:
        strict_modes.secure(strict_modes.problems_of_config(str(path)))
    except strict_modes.Unsafe as error:
        raise invalid("config.unsafe", text=error.problem.text, fix=error.problem.fix) from error
    except OSError as error:
        raise invalid("config.unreadable", path=path, error=error) from error
    return read_config(path)


def read_config(path: Path) -> dict[str, Any]:
    """The same, without checking who can write to the file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise invalid("config.unreadable", path=path, error=error) from error
    import tomllib  # only for a machine that has the file

    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise invalid("config.not_toml", path=path, error=error) from error
    found = {key: _checked(path, key, value) for key, value in with_present_names(given).items()}
    try:
        check_order(
            idle_warn_s=found.get("idle_warn_s", SETTINGS["idle_warn_s"].default),
            idle_stop_s=found.get("idle_stop_s", SETTINGS["idle_stop_s"].default),
        )
    except Refused as problem:
        raise invalid("config.setting", path=path, problem=problem) from problem
    return found


def _checked(path: Path, key: str, value: Any) -> Any:
    if key == LISTED:
        return _listed(path, value)
    if key == NODES:
        return read_nodes(path, value)
    if key == NOTIFY:
        return read_targets(path, value)
    if key == DEFAULTS:
        return _defaults(path, value)
    setting = SETTINGS.get(key)
    if setting is None:
        known = [*SETTINGS, LISTED, NODES, NOTIFY, DEFAULTS]
        near = get_close_matches(key, known, n=1)
        if near:
            raise invalid("config.misspelled_key", path=path, key=key, near=near[0])
        raise invalid("config.unknown_key", path=path, key=key, known=known)
    try:
        return parsed(setting, value)
    except Refused as problem:
        raise invalid("config.setting", path=path, problem=problem) from problem


def _defaults(path: Path, value: Any) -> Any:
    """Options of jobs, which the command line reads. Only their names are known here."""
    known = [option.name.replace("_", "-") for option in JOB_OPTIONS if option.can_default and "add" in option.verbs]
    if not isinstance(value, dict):
        raise invalid("config.defaults_not_a_table", path=path)
    for name in value:
        if name.replace("_", "-") not in known:
            near = get_close_matches(name, known, n=1)
            key = f"{DEFAULTS}.{name}"
            if near:
                raise invalid("config.misspelled_key", path=path, key=key, near=near[0])
            raise invalid("config.unknown_key", path=path, key=key, known=known)
    return value


def _listed(path: Path, value: Any) -> list[ListedGpu]:
    """[[gpus]] with index, model and memory, for makes that Tarmac cannot read."""
    if not isinstance(value, list) or not all(isinstance(gpu, dict) for gpu in value):
        raise invalid("config.gpus_not_a_list", path=path)
    gpus: list[ListedGpu] = []
    for number, gpu in enumerate(value):
        memory = read_size(gpu.get("memory", 0))
        index = gpu.get("index", number)
        if set(gpu) - {"index", "model", "memory"} or memory is None or not isinstance(index, int):
            raise invalid("config.gpu_not_understood", path=path, number=number)
        gpus.append({"index": index, "model": str(gpu.get("model", "")), "memory_total_bytes": memory})
    return gpus
