"""An engine as its author declares it to the suite."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate import plugins
from nl2sql_gate.protocols import Engine, EngineFactory
from nl2sql_gate.records import Limits
from nl2sql_gate.testing.traits import Oddity, Traits, traits_with


@dataclass(frozen=True)
class Spelling:
    """What the tests say, and how the dialect says it: a pattern, its replacement, and the sentence that says why."""

    pattern: str
    replacement: str
    sentence: str

    def __post_init__(self) -> None:
        re.compile(self.pattern)
        if not self.sentence.rstrip().endswith("."):
            raise ValueError(f"the spelling {self.pattern!r} needs a sentence that says why, not {self.sentence!r}")


def _no_files(_database: Any) -> Sequence[Path]:
    return ()


@dataclass(frozen=True, kw_only=True)
class EngineUnderTest:
    """One engine and what is peculiar to it, all of it data.

    `engine` is an entry point's name in `nl2sql_gate.engines`, or the factory; `way` is what a user writes under `services:`.
    """

    name: str
    dialect: str
    engine: str | EngineFactory
    way: str = "auto"
    may_be_absent: bool = False
    """Skip where the server cannot be started here. Else that is a failure."""
    oddities: tuple[Oddity, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences for readers, about what no trait and no cell shows."""
    spelling: tuple[Spelling, ...] = ()
    cells: Mapping[str, Any] = field(default_factory=dict)
    """Expressions of the dialect, each with the cell that it must become: the truth about types."""
    hostile: tuple[str, ...] = ()
    """What a reading session must refuse, beside the writes that the suite knows. `PROBE` is a file that must not appear."""
    ways_out: tuple[str, ...] = ()
    """What a private copy must refuse too: files, other databases, roles, settings of the server."""
    hostile_setup: tuple[str, ...] = ()
    """Statements that make, in the database that is attacked, what the hostile ones name."""
    witnesses: tuple[str, ...] = ()
    """Queries whose rows no hostile statement may change: sequences, roles, files' contents."""
    files: Callable[[Any], Sequence[Path]] = _no_files
    """The files of a provisioned database, whose bytes no hostile statement may change."""
    marks: Mapping[str, pytest.MarkDecorator] = field(default_factory=dict)
    """Test, or `test[parameters]`, to `notimpl(…)`, `notyet(…)` or `never(…)`."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w.-]+", self.name):
            raise ValueError(f"the name of an engine under test is a word, not {self.name!r}")
        traits_with(self.oddities)

    @cached_property
    def traits(self) -> Traits:
        """What the tests go by."""
        return traits_with(self.oddities)

    def make(self, *, limits: Limits, workdir: str, workers: int) -> Engine:
        """A new engine, not started."""
        factory: EngineFactory = plugins.load("engine", self.engine) if isinstance(self.engine, str) else self.engine
        return factory(name=self.name, dialect=self.dialect, way=self.way, limits=limits, workdir=workdir, workers=workers)
