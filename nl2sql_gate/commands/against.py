"""What a run is compared with: the baseline and the anchor, fetched before anything is paid."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql_gate import plugins
from nl2sql_gate.configuration import Configuration
from nl2sql_gate.errors import BaselineError
from nl2sql_gate.protocols import BaselineStore
from nl2sql_gate.records import Run
from nl2sql_gate.runfile import read_run

DEFAULT = "file"


@dataclass(frozen=True, slots=True)
class Against:
    """The runs to compare with. `note` says in words what there is, or why there is none."""

    baseline: Run | None = None
    anchor: Run | None = None
    note: str = "no baseline is set"


def store_of(location: str) -> BaselineStore:
    """The store that `file:…`, `branch:…`, `artifact:…`, `https:…` or `ref:…` names."""
    scheme, colon, rest = location.partition(":")
    if not colon:
        scheme, rest = DEFAULT, location
    store: BaselineStore = plugins.load("baseline store", scheme)(rest)
    return store


def read_against(loaded: Configuration) -> Against:
    """Fetch baseline and anchor. An absent baseline is an error only where the command line names it."""
    settings = loaded.settings
    anchor = _fetch(settings.anchor) if settings.anchor else None
    if settings.anchor and anchor is None:
        raise _absent("anchor", settings.anchor)
    if settings.baseline is None:
        return Against(anchor=anchor)
    baseline = _fetch(settings.baseline)
    if baseline is None and loaded.baseline_named:
        raise _absent("baseline", settings.baseline)
    shown = settings.baseline.removeprefix("file:")
    note = f"compared with {shown}" if baseline else f"there is no baseline at {shown} yet: this is the first run"
    return Against(baseline, anchor, note)


def _fetch(location: str) -> Run | None:
    content = store_of(location).fetch()
    return None if content is None else read_run(content, name=location.removeprefix("file:"))


def _absent(what: str, location: str) -> BaselineError:
    return BaselineError(
        f"the {what} does not exist",
        where=[location.removeprefix("file:")],
        meaning="It was named, so a run without it would hide a mistake. Nothing was asked.",
        next_step="Correct the name, or make one: nl2sql-gate bless nl2sql-gate-out/run.json --to FILE",
    )
