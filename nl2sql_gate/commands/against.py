"""What a run is compared with: the baseline and the anchor, fetched before anything is paid."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from nl2sql_gate import plugins
from nl2sql_gate.configuration import Configuration
from nl2sql_gate.errors import BaselineError
from nl2sql_gate.protocols import BaselineStore
from nl2sql_gate.records import Run
from nl2sql_gate.runfile import read_run

DEFAULT = "file"
ASKED = ("ref", "endpoint")
"""Baselines that are no stored file: they are asked in the same run."""
Question = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Against:
    """The runs to compare with. `note` says in words what there is, or why there is none.

    `head_again` are fresh answers of the head to what changed; `base_again` those of the baseline, where it was asked as well.
    `beside` tells that the baseline was asked in the same run as the head.
    """

    baseline: Run | None = None
    anchor: Run | None = None
    note: str = "no baseline is set"
    head_again: Run | None = None
    base_again: Run | None = None
    beside: bool = False

    def restricted(self, questions: Collection[Question]) -> Against:
        """The same runs with the cases of `questions` (id, service) only: a filtered run is not blamed for what it left out."""
        baseline = _restrict(self.baseline, questions) if self.baseline else None
        anchor = _restrict(self.anchor, questions) if self.anchor else None
        if self.baseline is None or baseline is None or len(baseline.cases) == len(self.baseline.cases):
            return replace(self, baseline=baseline, anchor=anchor)
        counts = f"{len(baseline.cases)} of its {len(self.baseline.cases)} cases"
        note = f"{self.note}, {counts}: the flags of this run leave out the others"
        return replace(self, baseline=baseline, anchor=anchor, note=note)


def _restrict(run: Run, questions: Collection[Question]) -> Run:
    """`run` with the cases of `questions` only, and without what its fingerprint says of services that are left out."""
    services = {service for _, service in questions}
    prints = dict(run.provenance.get("fingerprint", {}))
    if isinstance(prints.get("engines"), Mapping):
        prints["engines"] = {name: engine for name, engine in prints["engines"].items() if name in services}
    if isinstance(prints.get("data"), Mapping):
        prints["data"] = {name: digest for name, digest in prints["data"].items() if name.partition("/")[0] in services}
    cases = tuple(case for case in run.cases if (case.key.id, case.key.dialect) in questions)
    return replace(run, cases=cases, provenance={**run.provenance, "fingerprint": prints})


def store_of(location: str, *, gate: str) -> BaselineStore:
    """The store that `file:…`, `branch:…`, `artifact:…`, `https:…` or a plugin's scheme names, for the gate of that name."""
    scheme, colon, rest = location.partition(":")
    if not colon:
        scheme, rest = DEFAULT, location
    if scheme in ASKED:
        raise BaselineError(
            f"{location} is no place where a baseline is kept",
            meaning="It is asked in the same run as the head, so there is nothing to fetch or to store.",
            next_step="Name a file, or branch:, artifact: or https:.",
        )
    store: BaselineStore = plugins.load("baseline store", scheme)(rest, gate=gate)
    return store


def is_asked(location: str) -> bool:
    """Whether a baseline is asked in the same run instead of fetched."""
    return location.partition(":")[0] in ASKED


def read_against(loaded: Configuration) -> Against:
    """Fetch baseline and anchor. An absent baseline is an error only where the command line names it."""
    settings = loaded.settings
    anchor = _fetch(settings.anchor, settings.gate)[0] if settings.anchor else None
    if settings.anchor and anchor is None:
        raise _absent("anchor", settings.anchor)
    if settings.baseline is None:
        return Against(anchor=anchor)
    if is_asked(settings.baseline):
        return Against(anchor=anchor, note=f"{settings.baseline} was not asked", beside=True)
    baseline, chosen = _fetch(settings.baseline, settings.gate)
    if baseline is None and loaded.baseline_named:
        raise _absent("baseline", settings.baseline)
    shown = settings.baseline.removeprefix("file:")
    found = f"compared with {shown}{f' ({chosen})' if chosen else ''}"
    return Against(baseline, anchor, found if baseline else f"there is no baseline at {shown} yet: this is the first run")


def _fetch(location: str, gate: str) -> tuple[Run | None, str]:
    """The run, and which of several was chosen where the store says so."""
    store = store_of(location, gate=gate)
    content = store.fetch()
    run = None if content is None else read_run(content, name=location.removeprefix("file:"))
    return run, str(getattr(store, "chosen", ""))


def _absent(what: str, location: str) -> BaselineError:
    return BaselineError(
        f"the {what} does not exist",
        where=[location.removeprefix("file:")],
        meaning="It was named, so a run without it would hide a mistake. Nothing was asked.",
        next_step="Correct the name, or make one: nl2sql-gate bless nl2sql-gate-out/run.json --to FILE",
    )
