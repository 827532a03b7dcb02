"""One table of the options of a run: the same word as flag, environment variable, action input and settings key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nl2sql_gate.errors import SettingsError

ENVIRONMENT_PREFIX = "NL2SQL_GATE_"


@dataclass(frozen=True, slots=True)
class Option:
    """One option. `key` is the dotted place in the settings; a `path` is relative to where it was written."""

    name: str
    key: str
    help: str
    path: bool = False
    many: bool = False
    secret: bool = False

    @property
    def flag(self) -> str:
        """The command-line flag."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable."""
        return ENVIRONMENT_PREFIX + self.name.upper()


OPTIONS: tuple[Option, ...] = (
    Option("dataset", "dataset", "The dataset: a file of questions with golden SQL.", path=True),
    Option("format", "format", "Format of the dataset; found out when not given."),
    Option("setup_directory", "setup_directory", "Folder with a setup script and data for each database.", path=True),
    Option("dialect", "filters.dialects", "Run in this dialect only.", many=True),
    Option("tag", "filters.tags", "Run items with this tag only.", many=True),
    Option("database", "filters.databases", "Run items on this database only.", many=True),
    Option("query_type", "filters.types", "Run items of this type only: dql, dml or ddl.", many=True),
    Option("replies", "replies", "Recorded replies, JSON lines; without a base URL nothing else is asked.", path=True),
    Option("generator", "model.generator", "How the model is asked: openai_chat, http_json, command, replay or a plugin."),
    Option("base_url", "model.base_url", "Base URL of the model endpoint, for example http://127.0.0.1:8000/v1."),
    Option("model", "model.name", "Name of the model, as the endpoint knows it."),
    Option("api_key", "model.api_key", "Key for the endpoint.", secret=True),
    Option("prompt", "model.prompt", "Prompt template (Jinja2) instead of the built-in one.", path=True),
    Option("concurrency", "model.concurrency", "Questions asked at the same time."),
    Option("cache", "cache", "Folder that keeps replies, so that equal questions are paid once.", path=True),
    Option("trials", "trials", "How often each question is asked."),
    Option("metrics", "metrics", "Metric to compute.", many=True),
    Option("baseline", "baseline", "Baseline to compare with: a file, or file:, branch:, artifact:, https:, ref:, endpoint:."),
    Option("anchor", "anchor", "A second, pinned baseline, judged by non-inferiority."),
    Option("on_missing_baseline", "policy.on_missing_baseline", "When there is no baseline yet: warn, fail or bless."),
    Option("on_undecided", "policy.on_undecided", "When a drop is seen and not proven: warn or fail."),
    Option("on_no_verdict", "policy.on_no_verdict", "When nothing can be said: fail or warn."),
    Option("on_no_credentials", "policy.on_no_credentials", "When a fork has no key: warn or fail."),
    Option("min_drop", "policy.min_drop", "Smallest drop that matters, as a share (0.02 is two points)."),
    Option("comment", "report.comment", "Pull-request comment: always, changes, regressions or off."),
    Option("check_run", "report.check_run", "Also make a check run with annotations on the dataset's lines: true or false."),
    Option("gate", "gate", "Name of this gate: several in one repository do not overwrite each other."),
    Option("out", "out", "Folder for the report and the run file.", path=True),
    Option("strict", "strict", "Refuse a dataset that is not strict JSON: true or false."),
)
BY_NAME: dict[str, Option] = {option.name: option for option in OPTIONS}


def set_dotted(tree: dict[str, Any], key: str, value: Any) -> None:
    """Put `value` at the dotted `key`, making the sections on the way."""
    *sections, last = key.split(".")
    for section in sections:
        inner = tree.setdefault(section, {})
        if not isinstance(inner, dict):
            raise SettingsError(
                f"cannot set {key!r}",
                where=[f"{section!r} is {type(inner).__name__}, not a section"],
                meaning="The run did not start.",
                next_step="Write the value as a section in nl2sql-gate.yml.",
            )
        tree = inner
    tree[last] = value
