"""EvalBench's run, database and model configs as the settings of this gate, with a list of what has no equivalent."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nl2sql_gate.dataset.evalbench_databases import database_settings
from nl2sql_gate.dataset.evalbench_models import model_settings
from nl2sql_gate.dataset.formats import format_by_name
from nl2sql_gate.dataset.text_files import read_text
from nl2sql_gate.dialects import canonical
from nl2sql_gate.errors import DatasetError, SettingsError

_SCORERS = {
    "exact_match": "evalbench_exact_match",
    "set_match": "evalbench_set_match",
    "recall_match": "evalbench_recall_match",
    "returned_sql": "evalbench_returned_sql",
    "executable_sql": "evalbench_executable_sql",
    "regexp_matcher": "evalbench_regexp_matcher",
    "llmrater": "llm_judge",
}
_PRIMARY = ("execution_accuracy", "execution_accuracy_bird")
_OPTIONS = {
    "regexp_matcher": ("regexp_string_list", "match_all_patterns", "match_whole_query", "invert_results"),
    "recall_match": ("score_type",),
}
_LEFT_OUT = {
    "set_up_script": "no shell scripts are run; the gate builds databases from setup_directory",
    "tear_down_script": "no shell scripts are run; what the gate makes, it removes",
    "prompt_generator": "the packaged prompt is used; set model.prompt to a template of your own",
    "db_name_mappings": "databases are named in the dataset and made by the gate",
    "db_name_overrides": "databases are named in the dataset and made by the gate",
    "orchestrator": "there is one way to run here",
    "orchestrator_timeout_seconds": "limits.run_s is the nearest; it ends the run and still writes the report",
    "dialect": "dialects come from filters.dialects and the items",
}
_USED = frozenset(
    {
        "dataset_config", "dataset_format", "database_config", "database_configs", "dialects", "databases", "query_types",
        "setup_directory", "model_config", "num_trials", "scorers", "reporting", "runners",
    }
)  # fmt: skip
_ENV = re.compile(r"!ENV\s+")
_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):([^}]*)\}")


@dataclass(slots=True)
class Converted:
    """Settings as a tree for `nl2sql-gate.yml`, and notes: `(key, what became of it)`."""

    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)


def convert_run_config(path: str | os.PathLike[str], *, to_folder: str | os.PathLike[str]) -> Converted:
    """The settings that a run config and the configs it names amount to; paths become relative to `to_folder`.

    Passwords are never copied: a variable takes their place. Raises `DatasetError` for a file that cannot be read.
    """
    file = Path(path)
    config = _read(file)
    out = Converted()
    places = _Places(file, Path(to_folder))
    _dataset(config, out, places)
    _databases(config, out, places)
    _model(config, out, places)
    _scorers(config, out)
    _rest(config, out)
    _check(out)
    return out


class _Places:
    """Finds files that a config names, relative to the working directory, as EvalBench has it, or to the config's own folders."""

    def __init__(self, config: Path, to_folder: Path) -> None:
        self._roots = [Path.cwd(), *config.resolve().parents]
        self._to = to_folder.resolve()

    def find(self, name: str) -> Path | None:
        """The file or folder, or `None`. Where it was moved together with the config, the ends of its path are tried there."""
        for root in self._roots:
            if (root / name).exists():
                return root / name
        parts = Path(name).parts
        moved = (self._roots[1].joinpath(*parts[start:]) for start in range(1, len(parts)))
        return next((path for path in moved if path.exists()), None)

    def written(self, name: str, key: str, out: Converted) -> str:
        """The path as the settings file has it."""
        found = self.find(name)
        if found is None:
            out.notes.append((key, f"{name} is not there; the path is kept as it is and must be corrected"))
            return name
        return Path(os.path.relpath(found.resolve(), self._to)).as_posix()


def _read(path: Path) -> dict[str, Any]:
    from nl2sql_gate.dataset.yaml_text import read_yaml

    text = read_text(path, error=DatasetError, what="an EvalBench config").removeprefix("\ufeff")
    # A variable with a default has no equivalent in the settings: the default is what would have been used.
    document = read_yaml(_DEFAULT.sub(r"\2", _ENV.sub("", text)), file=str(path))
    value = document.values[0] if len(document.values) == 1 and not document.is_list else None
    if not isinstance(value, dict):
        raise DatasetError(
            f"{path} is no EvalBench config",
            where=[f"{path}: expected keys with values"],
            meaning="Nothing was converted.",
            next_step="Give the run config: the file with dataset_config, database_configs, model_config.",
        )
    return value


def _dataset(config: Mapping[str, Any], out: Converted, places: _Places) -> None:
    if isinstance(config.get("dataset_config"), str):
        out.settings["dataset"] = places.written(config["dataset_config"], "dataset_config", out)
    else:
        out.notes.append(("dataset_config", "is missing; set dataset:"))
    given = config.get("dataset_format")
    if isinstance(given, str):
        try:
            known = format_by_name(given)
        except DatasetError:
            known = None
            out.notes.append(("dataset_format", f"{given} is not known here; the file is looked at instead"))
        if known is not None:
            out.settings["format"] = known.name
            if known.read_items is None:
                out.notes.append(("dataset_format", f"{given}: {known.why_not}"))
    if isinstance(config.get("setup_directory"), str):
        out.settings["setup_directory"] = places.written(config["setup_directory"], "setup_directory", out)
    filters = {
        "dialects": [canonical(str(name)) for name in config.get("dialects") or []],
        "databases": [str(name) for name in config.get("databases") or []],
        "types": [str(name).lower() for name in config.get("query_types") or []],
    }
    filters = {key: values for key, values in filters.items() if values}
    if filters:
        out.settings["filters"] = filters


def _databases(config: Mapping[str, Any], out: Converted, places: _Places) -> None:
    listed = config.get("database_configs") or ([config["database_config"]] if config.get("database_config") else [])
    for name in listed if isinstance(listed, list) else [listed]:
        found = places.find(str(name))
        if found is None:
            out.notes.append(("database_configs", f"{name} is not there and was not converted"))
            continue
        databases = _read(found)
        dialect, service, notes = database_settings(databases, has_setup="setup_directory" in out.settings)
        out.notes += [(f"{name}: {key}", text) for key, text in notes]
        folder = databases.get("database_path")
        if dialect == "sqlite" and "setup_directory" not in out.settings and isinstance(folder, str):
            # Files named after their databases are a setup directory here.
            out.settings["setup_directory"] = places.written(folder, f"{name}: database_path", out)
        if not dialect:
            continue
        if dialect in out.settings.setdefault("services", {}):
            out.notes.append((f"{name}", f"a second server for {dialect}; give it a name of its own under services:"))
            continue
        out.settings["services"][dialect] = service


def _model(config: Mapping[str, Any], out: Converted, places: _Places) -> None:
    name = config.get("model_config")
    if not isinstance(name, str):
        out.notes.append(("model_config", "is missing; set model:"))
        return
    found = places.find(name)
    if found is None:
        out.notes.append(("model_config", f"{name} is not there; set model: by hand"))
        return
    model, notes = model_settings(_read(found))
    out.notes += [(f"{name}: {key}", text) for key, text in notes]
    if model:
        out.settings["model"] = model


def _scorers(config: Mapping[str, Any], out: Converted) -> None:
    scorers = config.get("scorers")
    metrics = list(_PRIMARY)
    options: dict[str, dict[str, Any]] = {}
    for key, raw in (scorers if isinstance(scorers, dict) else {}).items():
        given = raw if isinstance(raw, dict) else {}
        kind = str(given.get("type", key))
        metric = _SCORERS.get(kind)
        if metric is None:
            out.notes.append((f"scorers.{key}", "has no equivalent; the command scorer runs a program of your own"))
        elif metric == "llm_judge":
            out.notes.append((f"scorers.{key}", "llm_judge is the equivalent; it needs a model, see docs/scorers.md"))
            if given.get("hybrid_ground_truth"):
                out.settings["reference"] = "sqlite"
        elif kind == "regexp_matcher" and not given.get("regexp_string_list"):
            out.notes.append((f"scorers.{key}", "has no regexp_string_list, so there is nothing to look for"))
        else:
            # EvalBench takes several scorers of a kind under names of their own, and so do the settings here.
            name = metric if key == kind else str(key)
            metrics.append(name)
            taken = {option: given[option] for option in _OPTIONS.get(kind, ()) if given.get(option) is not None}
            if taken or name != metric:
                options[name] = {**({"type": metric} if name != metric else {}), **taken}
            lost = [str(option) for option in given if option not in _OPTIONS.get(kind, ()) and option != "type"]
            if lost:
                out.notes.append((f"scorers.{key}", f"{', '.join(lost)}: has no equivalent"))
    if metrics != list(_PRIMARY):
        out.settings["metrics"] = metrics
        out.notes.append(("scorers", "kept beside execution_accuracy, which the policy judges; EvalBench's are not fit to gate"))
    if options:
        out.settings["scorers"] = options


def _rest(config: Mapping[str, Any], out: Converted) -> None:
    trials = config.get("num_trials")
    if isinstance(trials, int) and trials > 1:
        out.settings["trials"] = trials
        out.notes.append(("num_trials", "dml and ddl items are repeated too"))
    runners = config.get("runners")
    if isinstance(runners, dict):
        asked = runners.get("sqlgen_runners")
        if isinstance(asked, int) and asked > 0:
            out.settings.setdefault("model", {})["concurrency"] = asked
        out.notes += [(f"runners.{key}", "has no equivalent") for key in runners if key != "sqlgen_runners"]
    reporting = config.get("reporting")
    for kind, options in (reporting if isinstance(reporting, dict) else {}).items():
        folder = options.get("output_directory") if isinstance(options, dict) else None
        if kind == "csv" and isinstance(folder, str):
            out.settings["out"] = folder
            out.notes.append(("reporting.csv", "reports are JSON, Markdown, HTML and JUnit in the same folder"))
        else:
            out.notes.append((f"reporting.{kind}", "has no equivalent; report.json holds what a dashboard needs"))
    out.notes += [(key, why) for key, why in _LEFT_OUT.items() if config.get(key) is not None]
    unknown = [key for key in config if key not in _USED and key not in _LEFT_OUT]
    out.notes += [(str(key), "is not a key that is known, and has no equivalent") for key in unknown]


def _check(out: Converted) -> None:
    """What is written must be settings: anything else would be a fault of this conversion."""
    from pydantic import ValidationError

    from nl2sql_gate.settings import Settings

    try:
        Settings.model_validate({"version": 1, **out.settings})
    except ValidationError as error:
        where = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise SettingsError(
            "the config cannot be converted as it is",
            where=where,
            meaning="The settings that it amounts to are not valid. Nothing was written.",
            next_step="Correct these values in the config, or take them out.",
        ) from error
