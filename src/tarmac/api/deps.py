"""What every route may ask for by name: the engine, the caller, the way to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from litestar.di import NamedDependency

from tarmac.controller.engine import Engine

EngineDep: TypeAlias = NamedDependency[Engine]
Caller: TypeAlias = NamedDependency[str]  # asking for it refuses strangers
TheEnd: TypeAlias = NamedDependency[Callable[[], None]]
