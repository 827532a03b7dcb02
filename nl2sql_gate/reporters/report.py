"""What every rendering shows: the run, what it was compared with, the verdict, and where it all comes from."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from nl2sql_gate.judgement import Comparison, Verdict
from nl2sql_gate.records import CaseKey, Place, Run


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Commands that answer again from the run's own replies, without a key; `--only` is added for each case.

    `docker` is empty where no image is known.
    """

    local: str = "nl2sql-gate run --replies nl2sql-gate-out/run.json"
    docker: str = ""

    def of(self, key: CaseKey) -> tuple[str, ...]:
        """The commands for one case, fit for pasting into a shell."""
        only = shlex.quote(f"{key.id}:{key.dialect}")
        return tuple(f"{command} --only {only}" for command in (self.docker, self.local) if command)


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses to lead a reader to; built by us from the platform's own, empty where there is none.

    `source` shows the repository's files at the commit under test; the file and `#L<line>` are added.
    """

    run: str = ""
    html: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """One earlier run: `label` as the axis shows it, `value` of the primary metric, its counts, and the status it had."""

    label: str
    value: float
    n: int
    status: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The material of all reporters. They do no I/O and ask no clock: what changes with time stands in `provenance`.

    `provenance` are finished lines (baseline, its age, what differed, tokens, digests). `required` are ids under the policy's
    required items. `places` are the items' places by id. `earlier` are one-line verdicts of former runs of the same pull request,
    the newest first. `show_rows` is false where the rows are nobody's business. `hints` are next steps, in order.
    """

    head: Run
    verdict: Verdict
    comparison: Comparison | None = None
    baseline: Run | None = None
    gate: str = "nl2sql"
    primary: str = "execution_accuracy"
    provenance: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    links: Links = Links()
    reproduction: Reproduction = Reproduction()
    required: frozenset[str] = frozenset()
    places: Mapping[str, Place] = field(default_factory=dict)
    earlier: tuple[str, ...] = ()
    history: tuple[Trend, ...] = ()
    show_rows: bool = True
