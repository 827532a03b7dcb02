"""EvalBench's configs as settings, and what has no equivalent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.dataset.evalbench_config import Converted, convert_run_config
from nl2sql_gate.errors import DatasetError
from nl2sql_gate.settings import Settings

RUN = """
dataset_config: data/items.json
dataset_format: bird-standard-format
database_configs: [db/postgres.yaml, db/sqlite.yaml]
dialects: [PostgreSQL, sqlite]
query_types: [DQL]
model_config: models/gemini.yaml
num_trials: 3
set_up_script: prepare.sh
scorers:
  exact_match: null
  judge: {type: llmrater, model_config: x.yaml, hybrid_ground_truth: true}
  regexp_matcher: {regexp_string_list: [a], loud: true}
  precision: {type: recall_match, score_type: precision}
  trajectory_matcher: null
runners: {sqlgen_runners: 4, task_timeout_seconds: 60}
reporting:
  csv: {output_directory: results}
  bigquery: {gcp_project_id: p}
surprise: 1
"""


def config(folder: Path, run: str = RUN, **files: str) -> Converted:
    given = {
        "run.yaml": run,
        "data/items.json": "[]",
        "db/sqlite.yaml": "db_type: sqlite\ndatabase_path: db_files\nextension: .db\n",
        "db/postgres.yaml": "db_type: postgres\ndatabase_name: orders\ndatabase_path: 10.0.0.1:6543\nuser_name: ro\npassword: s3cret\n",
        "models/gemini.yaml": "generator: gcp_vertex_gemini\nvertex_model: gemini-2.5-pro\ngcp_project_id: p\ngcp_region: us-central1\n"
        "execs_per_minute: 30\nmax_attempts: 2\nbase_prompt: be brief\n",
        "db_files/orders.db": "",
        **files,
    }
    for name, text in given.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "out").mkdir(exist_ok=True)
    return convert_run_config(folder / "run.yaml", to_folder=folder / "out")


def test_a_run_config_becomes_settings(tmp_path: Path) -> None:
    settings = config(tmp_path).settings
    assert settings == {
        "dataset": "../data/items.json",
        "format": "bird",
        "filters": {"dialects": ["postgres", "sqlite"], "types": ["dql"]},
        "services": {
            "postgres": {"url": "postgresql://ro:${POSTGRES_PASSWORD}@10.0.0.1:6543/orders", "existing": True},
            "sqlite": "auto",
        },
        "setup_directory": "../db_files",
        "model": {
            "generator": "openai_chat",
            "base_url": "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/endpoints/openapi",
            "api_key": "${VERTEX_ACCESS_TOKEN}",
            "name": "google/gemini-2.5-pro",
            "limits": {"requests_per_minute": 30},
            "retries": 1,
            "concurrency": 4,
        },
        "metrics": [
            "execution_accuracy",
            "execution_accuracy_bird",
            "evalbench_exact_match",
            "evalbench_regexp_matcher",
            "precision",
        ],
        "scorers": {
            "evalbench_regexp_matcher": {"regexp_string_list": ["a"]},
            "precision": {"type": "evalbench_recall_match", "score_type": "precision"},
        },
        "reference": "sqlite",
        "trials": 3,
        "out": "results",
    }
    Settings.model_validate({"version": 1, **settings})


def test_what_has_no_equivalent_is_listed(tmp_path: Path) -> None:
    notes = dict(config(tmp_path).notes)
    assert notes["db/postgres.yaml: password"] == "is not copied; set the environment variable POSTGRES_PASSWORD"
    assert notes["models/gemini.yaml: base_prompt"] == "goes into a prompt template of your own: model.prompt"
    assert notes["scorers.trajectory_matcher"].startswith("has no equivalent")
    assert notes["scorers.regexp_matcher"] == "loud: has no equivalent"
    assert notes["runners.task_timeout_seconds"] == "has no equivalent"
    assert notes["reporting.bigquery"].startswith("has no equivalent")
    assert notes["set_up_script"].startswith("no shell scripts are run")
    assert notes["surprise"] == "is not a key that is known, and has no equivalent"


def test_no_password_is_ever_copied(tmp_path: Path) -> None:
    assert "s3cret" not in repr(config(tmp_path))


def test_with_a_setup_directory_the_gate_brings_the_server(tmp_path: Path) -> None:
    found = config(tmp_path, RUN + "setup_directory: data\n")
    assert found.settings["services"] == {"postgres": "auto", "sqlite": "auto"}
    assert found.settings["setup_directory"] == "../data"
    assert "in a server of our own" in dict(found.notes)["db/postgres.yaml: database_path"]


@pytest.mark.parametrize(
    "text, dialect, service, part",
    [
        ("db_type: postgres\ndatabase_path: p:us-central1:i\n", "postgres", "auto", "Cloud SQL is reached through its proxy"),
        ("db_type: alloydb\nnl_config: x\ndatabase_path: h\n", "postgres", None, "nl_config"),
        ("db_type: spanner\ndialect: spanner_gsql\n", None, None, "spanner has no server here"),
    ],
)
def test_servers_of_every_kind(tmp_path: Path, text: str, dialect: str | None, service: Any, part: str) -> None:
    found = config(tmp_path, "dataset_config: data/items.json\ndatabase_config: db/x.yaml\n", **{"db/x.yaml": text})
    services = found.settings.get("services", {})
    assert list(services) == ([dialect] if dialect else [])
    assert service is None or services[dialect] == service
    assert any(part in f"{key}: {note}" for key, note in found.notes)


def test_models_without_an_equivalent_say_what_to_do(tmp_path: Path) -> None:
    for generator, part in (
        ("noop", "noop becomes replay"),
        ("gcp_vertex_claude", "http_json or command"),
        ("codex", "is an agent"),
    ):
        found = config(tmp_path, "model_config: m.yaml\n", **{"m.yaml": f"generator: {generator}\nvertex_model: m\n"})
        assert any(part in note for _, note in found.notes)


def test_files_that_are_missing_are_named(tmp_path: Path) -> None:
    found = config(tmp_path, "dataset_config: lost.json\ndatabase_configs: [lost.yaml]\nmodel_config: gone.yaml\n")
    assert found.settings == {"dataset": "lost.json"}
    assert [key for key, _ in found.notes] == ["dataset_config", "database_configs", "model_config"]


def test_variables_with_defaults_take_them(tmp_path: Path) -> None:
    found = config(tmp_path, "dataset_config: !ENV ${DATA:data/items.json}\n")
    assert found.settings["dataset"] == "../data/items.json"


def test_a_list_is_no_config(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is no EvalBench config"):
        config(tmp_path, "- a\n")


def test_the_real_example_converts(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "data/evalbench-bat"
    found = convert_run_config(folder / "example_run_config.yaml", to_folder=tmp_path)
    assert (tmp_path / found.settings["dataset"]).resolve() == folder / "prompts.json"
    assert (tmp_path / found.settings["setup_directory"]).resolve() == folder / "setup"
    assert found.settings["filters"] == {"dialects": ["sqlite"], "types": ["dql"]}
    assert found.settings["services"] == {"sqlite": "auto"}
    keys = [key for key, _ in found.notes]
    assert keys == [
        "datasets/bat/db_configs/sqlite.yaml: max_executions_per_minute",
        "model_config",
        "scorers.llmrater",
        "scorers",
        "reporting.csv",
        "prompt_generator",
    ]
