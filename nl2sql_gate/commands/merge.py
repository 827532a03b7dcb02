"""`nl2sql-gate merge`: the shards of a run, joined into one run that is compared, decided and reported once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nl2sql_gate import configuration
from nl2sql_gate.commands import conclude
from nl2sql_gate.commands.against import Against, read_against
from nl2sql_gate.errors import UsageError
from nl2sql_gate.github.event import read_event
from nl2sql_gate.github.redaction import Redactor
from nl2sql_gate.records import Run
from nl2sql_gate.runfile import read_run


@click.command("merge", help="Join the run.json files of all shards of one run, then compare, decide and report once.")
@click.argument("runs", metavar="RUN…", nargs=-1, required=True)
@click.option("--config", metavar="FILE", help="Settings file instead of ./nl2sql-gate.yml; its policy decides.")
@click.option("--baseline", metavar="BASELINE", help="Baseline to compare with.")
@click.option("--out", metavar="PATH", help="Folder for the joined run and the report.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Any setting, e.g. policy.alpha=0.01.")
@click.pass_obj
def command(
    redactor: Redactor,
    /,
    *,
    runs: Sequence[str],
    config: str | None,
    baseline: str | None,
    out: str | None,
    assignments: Sequence[str],
) -> int:
    """Join, decide and report; the exit code is the verdict's."""
    joined = join({name: read_run(Path(name)) for name in runs})
    metrics = [f"metrics=[{', '.join(joined.metrics)}]"] if joined.metrics else []
    loaded = configuration.load({"out": out, "baseline": baseline}, config=config, assignments=[*metrics, *assignments])
    against = with_answers(read_against(loaded), list(runs))
    return conclude.conclude(joined, against, conclude.Context(loaded.settings, read_event(os.environ)), redactor)


def with_answers(against: Against, runs: Sequence[str]) -> Against:
    """What the shards asked beside their own cases lies in their folders: the base, and what was asked again."""
    folders = [Path(name).parent for name in runs]
    asked = {name: _there(folders, f"{name}.json") for name in ("base", "again", "base-again")}
    base = join(asked["base"]) if against.beside and asked["base"] else None
    if against.beside and base is None:
        raise _refused(["the baseline was asked beside the shards, and no base.json lies beside their run.json"])
    facts = dict(base.provenance.get("facts", {})) if base is not None else {}
    note = f"compared with {facts['asked_beside']}, asked in the same run" if facts.get("asked_beside") else against.note
    return replace(
        against,
        baseline=base or against.baseline,
        head_again=_together(asked["again"]),
        base_again=_together(asked["base-again"]) if against.beside else None,
        note=note,
    )


def _there(folders: Sequence[Path], name: str) -> dict[str, Run]:
    return {str(folder / name): read_run(folder / name) for folder in folders if (folder / name).is_file()}


def _together(runs: Mapping[str, Run]) -> Run | None:
    """Answers to the same questions by different shards do not exist, so there is nothing to check."""
    found = list(runs.values())
    return replace(found[0], cases=tuple(case for run in found for case in run.cases)) if found else None


def join(runs: Mapping[str, Run]) -> Run:
    """One run from all its shards. Raises `UsageError` for gaps, overlaps and shards of unlike runs, naming the files."""
    shards = {name: _shard(name, run) for name, run in runs.items()}
    first = next(iter(shards))
    _check_alike(runs, shards, first)
    count = int(shards[first]["count"])
    indexes = Counter(int(shard["index"]) for shard in shards.values())
    twice = sorted(index for index, times in indexes.items() if times > 1)
    missing = [index for index in range(1, count + 1) if index not in indexes]
    if twice or missing:
        where = [f"shard {index}/{count} is given {indexes[index]} times" for index in twice]
        raise _refused([*where, *(f"shard {index}/{count} is missing" for index in missing)])
    order = {item_id: position for position, item_id in enumerate(shards[first]["items"])}
    cases = sorted((case for run in runs.values() for case in run.cases), key=lambda case: order.get(case.key.id, len(order)))
    keys = Counter(case.key for case in cases)
    overlaps = [f"{key.id} on {key.dialect}, trial {key.trial}, stands in two shards" for key, times in keys.items() if times > 1]
    gaps = [f"{item_id} stands in no shard" for item_id in order if item_id not in {case.key.id for case in cases}]
    lone = [name for name, run in runs.items() if not run.cases]
    if overlaps or (gaps and not lone):
        raise _refused([*overlaps, *gaps][:20])
    return replace(
        runs[first],
        cases=tuple(cases),
        provenance=_provenance(list(runs.values())),
        warnings=tuple(dict.fromkeys(warned for run in runs.values() for warned in run.warnings)),
        complete=all(run.complete for run in runs.values()),
        verdict=None,
    )


def _shard(name: str, run: Run) -> Mapping[str, Any]:
    shard = run.provenance.get("shard")
    if not isinstance(shard, Mapping):
        raise _refused([f"{name} is no shard: it was not run with --shard"])
    return shard


def _check_alike(runs: Mapping[str, Run], shards: Mapping[str, Mapping[str, Any]], first: str) -> None:
    """Shards of one run agree in all that decides whether figures may be compared; only who served may differ."""
    wanted = _fingerprint(runs[first])
    unlike: list[str] = []
    for name, run in runs.items():
        found = _fingerprint(run)
        unlike += [
            f"{name} differs from {first} in {part}"
            for part in sorted(wanted.keys() | found.keys())
            if wanted.get(part) != found.get(part)
        ]
        unlike += [f"{name} differs from {first} in {part}" for part in _clashes(runs[first], run)]
        if shards[name]["count"] != shards[first]["count"] or list(shards[name]["items"]) != list(shards[first]["items"]):
            unlike.append(f"{name} is a part of another whole than {first}")
        if run.metrics != runs[first].metrics:
            unlike.append(f"{name} was scored by other metrics than {first}")
    if unlike:
        raise _refused(unlike)


def _fingerprint(run: Run) -> dict[str, Any]:
    prints = dict(run.provenance.get("fingerprint", {}))
    model = {key: value for key, value in dict(prints.get("model", {})).items() if key != "served"}
    # Each shard holds the databases and engines that its own items need, so these are compared where both have them.
    return {**prints, "model": model, "data": None, "engines": None}


def _print(run: Run, part: str) -> Mapping[str, Any]:
    """A part of the fingerprint; the reader has seen that it is an object."""
    found: Mapping[str, Any] = run.provenance.get("fingerprint", {}).get(part, {})
    return found


def _clashes(one: Run, other: Run) -> list[str]:
    """Databases and engines that both shards hold and that are not the same."""
    found = []
    for part in ("data", "engines"):
        here, there = _print(one, part), _print(other, part)
        found += [f"{part}.{name}" for name in sorted(here.keys() & there.keys()) if here[name] != there[name]]
    return found


def _provenance(runs: Sequence[Run]) -> dict[str, Any]:
    merged = {key: value for key, value in runs[0].provenance.items() if key != "shard"}
    prints = dict(merged.get("fingerprint", {}))
    for part in ("data", "engines"):
        prints[part] = {name: value for run in runs for name, value in _print(run, part).items()}
    served = sorted({name for run in runs for name in _print(run, "model").get("served", ())})
    prints["model"] = {**dict(prints.get("model", {})), "served": served}
    facts = dict(merged.get("facts", {}))
    for part in ("replayed", "asked"):
        facts[part] = sum(run.provenance.get("facts", {}).get(part, 0) for run in runs)
    return {**merged, "fingerprint": prints, "facts": {**facts, "shards": len(runs)}}


def _refused(where: list[str]) -> UsageError:
    return UsageError(
        "these runs cannot be joined",
        where=where,
        meaning="A joined run with a gap, an overlap or unlike parts would be compared as if it were whole. Nothing was written.",
        next_step="Give the run.json of every shard of one run, each once.",
    )
