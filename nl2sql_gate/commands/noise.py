"""What calibration found out about the noise of a system: kept beside a baseline in a file, and carried in every baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nl2sql_gate.errors import UsageError
from nl2sql_gate.records import Run
from nl2sql_gate.runfile import write_file
from nl2sql_gate.settings import Settings

if TYPE_CHECKING:
    # Only what it is made of needs the numerical library, and most runs have no calibration.
    from nl2sql_gate.calibration import Calibration, Unstable

FORMAT = "nl2sql-gate/calibration/v1"
KEY = "calibration"
"""Under this name a run's provenance carries what was measured."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Churn and false alarms of `metric` over `items` items in `runs` runs of one build, and the questions that are coins."""

    metric: str
    churn: float
    false_alarms: float
    items: int
    runs: int
    created: str = ""
    model: str = ""
    flipped: tuple[str, ...] = ()
    unstable: tuple[Unstable, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        listed = {"flipped": list(self.flipped), "unstable": [entry.to_json() for entry in self.unstable]}
        return dict(sorted({**plain, **listed}.items()))

    def words(self, *, today: date) -> str:
        """One line for a report."""
        coins = [entry for entry in self.unstable if entry.expiry >= today]
        late = len(self.unstable) - len(coins)
        said = f"noise measured {self.created[:10] or 'at an unknown time'}: churn {100 * self.churn:.1f} % of {self.items} items"
        said += f", false alarms {100 * self.false_alarms:.1f} %, {len(coins)} quarantined"
        return said + (f", quarantine of {late} expired: run nl2sql-gate calibrate again" if late else "")


def noise_of(calibrations: Sequence[Calibration], unstable: Sequence[Unstable], *, runs: int, head: Run) -> Noise:
    """The mean over `calibrations`, each a comparison of two runs of one build."""
    facts, prints = head.provenance.get("facts", {}), head.provenance.get("fingerprint", {})
    count = len(calibrations)
    return Noise(
        metric=calibrations[0].metric,
        churn=sum(each.churn for each in calibrations) / count,
        false_alarms=sum(each.false_alarms for each in calibrations) / count,
        items=max(each.items for each in calibrations),
        runs=runs,
        created=str(facts.get("created", "")),
        model=str(prints.get("model", {}).get("name", "")),
        flipped=tuple(dict.fromkeys(name for each in calibrations for name in each.flipped)),
        unstable=tuple(unstable),
    )


def place_beside(baseline: str | None, what: str) -> Path | None:
    """`evals/baseline.json` → `evals/baseline.<what>`; `None` where the baseline is no file."""
    if not baseline or not (baseline.startswith("file:") or ":" not in baseline):
        return None
    path = Path(baseline.removeprefix("file:"))
    return path.with_name(f"{path.stem}.{what}")


def noise_place(settings: Settings) -> Path:
    """Where the calibration is kept: beside a baseline that is a file, else beside the dataset under the gate's name."""
    beside = place_beside(settings.baseline, "calibration.json")
    return beside or Path(settings.dataset).with_name(f"{settings.gate}.calibration.json")


def known_noise(settings: Settings, baseline: Run | None) -> Noise | None:
    """What is known: from the calibration's file where there is one, else what the baseline carries.

    `None` where nothing was measured, or for another primary metric. Raises `UsageError` for a file that is something else.
    """
    path = noise_place(settings) if settings.dataset or settings.baseline else None
    found = _read(path) if path is not None and path.is_file() else _carried(baseline)
    return found if found is not None and found.metric == settings.policy.primary else None


def carrying(run: Run, noise: Noise | None) -> Run:
    """The run with what is known of its system's noise, so that the baseline that it becomes has it."""
    return run if noise is None else replace(run, provenance={**run.provenance, KEY: noise.to_json()})


def write_noise(noise: Noise, path: Path, *, gate: str) -> None:
    """Write the file, one unstable question a line."""
    content = {"format": FORMAT, "gate": gate, **noise.to_json()}
    write_file(path, (json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode())


def _carried(baseline: Run | None) -> Noise | None:
    found = baseline.provenance.get(KEY) if baseline is not None else None
    return _restored(found, "the baseline's provenance") if isinstance(found, Mapping) else None


def _read(path: Path) -> Noise:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise _unusable(str(path), str(error)) from error
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise _unusable(str(path), f"its format is not {FORMAT}")
    return _restored(content, str(path))


def _restored(content: Mapping[str, Any], shown: str) -> Noise:
    from nl2sql_gate.calibration import read_unstable

    try:
        noise = Noise(
            metric=str(content["metric"]),
            churn=float(content["churn"]),
            false_alarms=float(content["false_alarms"]),
            items=int(content["items"]),
            runs=int(content["runs"]),
            created=str(content.get("created", "")),
            model=str(content.get("model", "")),
            flipped=tuple(map(str, content.get("flipped", ()))),
            unstable=read_unstable(content.get("unstable", ())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _unusable(shown, f"{type(error).__name__}: {error}") from error
    if not (0 <= noise.churn <= 1 and 0 <= noise.false_alarms <= 1):
        raise _unusable(shown, "churn and false alarms are shares between 0 and 1")
    return noise


def _unusable(shown: str, why: str) -> UsageError:
    return UsageError(
        "the calibration cannot be read",
        where=[shown, why],
        meaning="Neither churn nor the quarantine is known.",
        next_step="Measure it again with `nl2sql-gate calibrate`, or remove the file.",
    )
