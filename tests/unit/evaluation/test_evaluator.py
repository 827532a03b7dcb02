"""What the class promises beyond its numbers: errors, safety, logs, configuration, the command line."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.evaluation import (
    DBMS,
    ConfigurationError,
    Evaluation,
    EvaluationTechnique,
    OpenAIModel,
    load_config_from_env,
)

Evaluate = Callable[..., dict[str, Any]]
ALL = [technique.value for technique in EvaluationTechnique]
NOTHING = {"EX": 0, "EXP": 0.0, "EXR": 0.0, "F1": 0.0}
ONE, TWO = [["a"], [[1], [2]]], [["a"], [[1], [3]]]


@pytest.mark.parametrize("technique", ALL)
def test_a_failing_prediction_has_the_databases_words(evaluate: Evaluate, technique: str) -> None:
    found = evaluate(technique, "SELECT absent FROM t", ONE)
    assert found["has_error"] is True
    assert found["error_message"] == "no such column: absent"
    assert found["error_side"] == "predicted_sql"
    assert found["metrics"] == ({"EX": 0} if technique == "execution_accuracy" else NOTHING)


def test_a_failing_ground_truth_is_told_apart(evaluate: Evaluate) -> None:
    found = evaluate("execution_accuracy", ONE, "SELECT 1 FROM absent")
    assert (found["error_side"], found["error_message"]) == ("ground_truth_sql", "no such table: absent")


@pytest.mark.parametrize("technique", ALL)
def test_equal_results_need_no_embedding(evaluate: Evaluate, stubs: SimpleNamespace, technique: str) -> None:
    alien = stubs.Alien()
    found = evaluate(technique, ONE, [["x"], [[2], [1]]], embedding_model=alien)
    assert found["metrics"] == {"EX": 1, "EXP": 1.0, "EXR": 1.0, "F1": 1.0} or found["metrics"] == {"EX": 1}
    assert alien.asked == []


@pytest.mark.parametrize(
    "sql",
    ["UPDATE t SET a = 'k' RETURNING a", "DROP TABLE t", "DELETE FROM t", "ATTACH 'x.db' AS x", "SELECT a FROM t; DROP TABLE t"],
)
def test_a_prediction_changes_nothing(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "kept.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES ('j')")
    connection.close()
    before = path.read_bytes()
    evaluator = Evaluation({"evaluation_technique": "execution_accuracy", "db_params": {"dbms": "sqlite", "db_path": str(path)}})
    found = evaluator.run_evaluation(sql, "SELECT a FROM t", log=False)
    evaluator.close()
    assert found["has_error"] is True
    assert found["metrics"] == {"EX": 0}
    assert path.read_bytes() == before


def test_a_database_that_is_not_there_is_an_error_and_stays_away(tmp_path: Path) -> None:
    path = tmp_path / "absent.sqlite"
    evaluator = Evaluation({"evaluation_technique": "execution_accuracy", "db_params": {"dbms": "sqlite", "db_path": str(path)}})
    found = evaluator.run_evaluation("SELECT 1", "SELECT 1", log=False)
    assert found["has_error"] is True
    assert str(path) in found["error_message"]
    assert not path.exists()


def test_an_endless_query_ends_at_the_deadline(evaluate: Evaluate) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
    found = evaluate("execution_accuracy", endless, ONE, timeout_s=0.2)
    assert "0.2 s" in found["error_message"]
    assert found["latency"] < 2


def test_too_many_rows_are_an_error(evaluate: Evaluate) -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    assert "rows" in evaluate("execution_accuracy", many, ONE, max_rows=500)["error_message"]


def test_an_embedding_that_fails_is_no_exception(evaluate: Evaluate) -> None:
    from nl2sql_gate.errors import ScorerFault

    class Broken:
        def embed(self, texts: Any) -> Any:
            raise ScorerFault(f"the endpoint is away: {len(texts)} texts")

    found = evaluate("unified_column_and_semantic_row", ONE, TWO, embedding_model=Broken())
    assert (found["error_side"], found["metrics"]) == ("embedding_model", NOTHING)


@pytest.mark.parametrize("technique", ALL)
def test_odd_tables_never_raise(evaluate: Evaluate, technique: str) -> None:
    odd = [
        [["id", "id"], [[1, 10], [None, "x"], ["x", None], [2.5, 1]]],
        [["id", "id"], [[None, 1], ["y", 2], [1, 10]]],
        [["a"], []],
        [["a", "b", "c"], [[None, None, None]]],
    ]
    for predicted in odd:
        for truth in odd:
            metrics = evaluate(technique, predicted, truth)["metrics"]
            assert all(0 <= value <= 1 for value in metrics.values())


def test_the_context_has_every_documented_key(evaluate: Evaluate) -> None:
    keys = {
        "execution_accuracy": {"pred_rows", "gt_rows", "EX"},
        "exact_column_and_exact_cell": {
            "common_cols",
            "gt_common_indices",
            "pred_common_indices",
            "matched_rows",
            "matched_cells",
        },
        "exact_column_and_partial_cell": {
            "exact_matched_cells",
            "partial_matched_cells",
            "ground_truth_cells",
            "predicted_cells",
        },
        "semantic_column_and_exact_cell": {"embedding_model_name", "gt_df", "pred_df", "matched_cols", "num_matched_cols"},
        "semantic_column_and_partial_cell": {"similarity_matrix", "col_matches", "gt_projected_rows", "pred_projected_rows"},
        "no_column_and_partial_cell": {"gt_cell_sets", "pred_cell_sets", "matched_cells", "ground_truth_cells"},
        "unified_column_and_semantic_row": {
            *("embedding_model", "all_cols", "pred_row_strings", "gt_row_strings", "pred_row_dicts", "gt_row_dicts", "P", "G"),
            *("coverage_penalty", "sum_matched_sim", "matched_row_details", "unmatched_pred_details", "unmatched_gt_details"),
        },
    }
    common = {"predicted_sql", "ground_truth_sql", "db_params", "metrics", "has_error", "latency"}
    relaxed = {"pred_cols", "gt_cols", "pred_rows", "gt_rows", "ex_is_one"}
    for technique, own in keys.items():
        found = evaluate(technique, TWO, ONE)
        expected = common | own | (relaxed if technique != "execution_accuracy" else set())
        assert expected <= set(found), (technique, expected - set(found))


def test_logs_have_the_documented_name_and_never_overwrite(evaluate: Evaluate, tmp_path: Path) -> None:
    for _ in range(3):
        found = evaluate("no_column_and_partial_cell", TWO, ONE, logs_dir_path=tmp_path / "logs")
    files = sorted(path.name for path in (tmp_path / "logs" / "no_column_and_partial_cell").iterdir())
    assert len(files) == 3
    assert f"evaluation-{found['evaluation_timestamp']}.json" in files
    content = json.loads((tmp_path / "logs" / "no_column_and_partial_cell" / files[0]).read_text())
    assert content["metrics"] == {"EX": 0, "EXP": 0.5, "EXR": 0.5, "F1": 0.5}
    assert content["gt_cell_sets"] == [["1"], ["2"]]


def test_results_of_the_ground_truth_are_kept_until_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (1)")
    connection.close()
    evaluator = Evaluation({"evaluation_technique": "execution_accuracy", "db_params": {"dbms": "sqlite", "db_path": str(path)}})
    assert evaluator.run_evaluation("SELECT 1", "SELECT a FROM t", log=False)["metrics"] == {"EX": 1}
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO t VALUES (2)")
    connection.close()
    assert evaluator.run_evaluation("SELECT 1", "SELECT a FROM t", log=False)["metrics"] == {"EX": 0}
    evaluator.close()


@pytest.mark.parametrize("technique", ALL)
def test_equal_results_cost_two_milliseconds_beside_the_queries_and_no_embedding(tmp_path: Path, technique: str) -> None:
    class Never:
        def embed(self, texts: Any) -> Any:
            raise AssertionError(texts)

    path = tmp_path / "one.sqlite"
    query = "SELECT a, b, c FROM t"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT, c REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(i, f"name {i}", i / 7) for i in range(500)])
        connection.commit()
        bare = []
        for _ in range(20):
            started = time.perf_counter()
            for _ in range(2):
                connection.execute(query).fetchall()
            bare.append(time.perf_counter() - started)
    taken = []
    for turn in range(20):
        evaluator = Evaluation(
            {
                "evaluation_technique": technique,
                "db_params": {"dbms": "sqlite", "db_path": str(path)},
                "embedding_model": Never(),
            }
        )
        # Opening the file is not part of a pair.
        evaluator.run_evaluation("SELECT 1", "SELECT 1", log=False)
        found = evaluator.run_evaluation(query, f"{query} -- {turn}", log=False)
        evaluator.close()
        assert found["metrics"]["EX"] == 1
        taken.append(found["latency"])
    assert min(taken) - min(bare) < 0.002


# ---- configuration ----------------------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "evaluation_technique": EvaluationTechnique.EXECUTION_ACCURACY,
    "db_params": {"dbms": DBMS.SQLITE, "db_path": "x"},
}
ENVIRONMENT = {
    "EVAL_TECHNIQUE": "exact_column_and_exact_cell",
    "DBMS": "SQLITE",
    "DB_PATH": "x.sqlite",
    "EMBEDDING_MODEL": "TEXT_EMBEDDING_3_SMALL",
    "LOGS_DIR_PATH": "logs",
}


@pytest.mark.parametrize(
    "change, words",
    [
        ({"evaluation_technique": "exact_column_and_exact_cel"}, "Did you mean 'exact_column_and_exact_cell'?"),
        ({"evaluation_technique": None}, "evaluation_technique has no value None"),
        ({"db_params": {"dbms": "oracle", "db_path": "x"}}, "db_params.dbms has no value 'oracle'"),
        ({"db_params": {"dbms": "sqlite"}}, "db_params must hold dbms and db_path"),
        ({"penalise_extra_pred_cols": True}, "Did you mean 'penalize_extra_pred_cols'?"),
        ({"penalize_extra_pred_cols": "no"}, "penalize_extra_pred_cols must be True or False"),
        ({"compat": "sqlmorf"}, "compat must be 'sqlmorph'"),
        ({"timeout_s": 0}, "timeout_s must be a positive number"),
        ({"embedding_model": 3}, "embedding_model must be"),
    ],
)
def test_a_bad_configuration_says_what_is_wrong(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match="(?s)" + words.replace("?", r"\?").replace(".", r"\.")):
        Evaluation({**GOOD, **change})


def test_a_log_without_a_folder_is_a_bad_configuration() -> None:
    with pytest.raises(ConfigurationError, match="logs_dir_path"):
        Evaluation(GOOD).run_evaluation("SELECT 1", "SELECT 1")


def test_semantic_techniques_without_key_and_model_fail_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NL2SQL_GATE_MINILM", "/nowhere")
    config = {
        **GOOD,
        "evaluation_technique": "unified_column_and_semantic_row",
        "embedding_model": OpenAIModel.TEXT_EMBEDDING_3_SMALL,
    }
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        Evaluation(config)


def test_old_spellings_are_taken_with_a_warning(evaluate: Evaluate) -> None:
    wide = [["a", "z"], [[1, 0], [2, 0]]]
    with pytest.warns(FutureWarning, match="penalize_extra_columns"):
        found = evaluate("exact_column_and_exact_cell", wide, ONE, penalize_extra_columns=False)
    assert found["metrics"]["EXP"] == 1
    with pytest.warns(FutureWarning, match="free_column"):
        assert EvaluationTechnique("free_column_and_partial_cell") is EvaluationTechnique.NO_COLUMN_AND_PARTIAL_CELL
    assert EvaluationTechnique.FREE_COLUMN_AND_PARTIAL_CELL is EvaluationTechnique.NO_COLUMN_AND_PARTIAL_CELL
    with pytest.warns(FutureWarning, match="PENALIZE_EXTRA_COLUMNS"):
        assert load_config_from_env({**ENVIRONMENT, "PENALIZE_EXTRA_COLUMNS": "false"})["penalize_extra_pred_cols"] is False


def test_the_environment_makes_a_configuration() -> None:
    assert load_config_from_env({**ENVIRONMENT, "ENABLE_LOG": "True"}) == {
        "evaluation_technique": EvaluationTechnique.EXACT_COLUMN_AND_EXACT_CELL,
        "db_params": {"dbms": DBMS.SQLITE, "db_path": "x.sqlite"},
        "penalize_extra_pred_cols": True,
        "embedding_model": OpenAIModel.TEXT_EMBEDDING_3_SMALL,
        "logs_dir_path": "logs",
        "enable_log": True,
    }


@pytest.mark.parametrize("name", list(ENVIRONMENT))
def test_a_missing_variable_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        load_config_from_env({key: value for key, value in ENVIRONMENT.items() if key != name})


@pytest.mark.parametrize(
    "name, value", [("EVAL_TECHNIQUE", "EXACT"), ("DBMS", "ORACLE"), ("EMBEDDING_MODEL", "small"), ("ENABLE_LOG", "yes")]
)
def test_a_wrong_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        load_config_from_env({**ENVIRONMENT, name: value})


def test_the_command_line_prints_metrics_and_fails_where_a_query_does(tmp_path: Path) -> None:
    path = tmp_path / "one.sqlite"
    sqlite3.connect(path).close()
    path.touch()

    def run(predicted: str) -> subprocess.CompletedProcess[str]:
        environment = {**ENVIRONMENT, "DB_PATH": str(path), "LOGS_DIR_PATH": str(tmp_path / "logs"), "ENABLE_LOG": "true"}
        command = [
            sys.executable,
            "-m",
            "nl2sql_gate.evaluation",
            "--predicted-sql",
            predicted,
            "--ground-truth-sql",
            "SELECT 1 AS a",
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    good = run("SELECT 1 AS a UNION ALL SELECT 2")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.splitlines()[:2] == [
        "Evaluation Results:",
        "Metrics: {'EX': 0, 'EXP': 0.5, 'EXR': 1.0, 'F1': 0.6666666666666666}",
    ]
    assert len(list((tmp_path / "logs" / "exact_column_and_exact_cell").iterdir())) == 1
    bad = run("SELECT absent")
    assert bad.returncode == 1
    assert "no such column: absent" in bad.stderr


def test_a_password_is_in_no_context(tmp_path: Path) -> None:
    url = "mysql://ann:s3cr3t@127.0.0.1:1/shop"
    config = {
        "evaluation_technique": "execution_accuracy",
        "db_params": {"dbms": "mysql", "db_path": url},
        "logs_dir_path": tmp_path,
    }
    found = Evaluation(config).run_evaluation("SELECT 1", "SELECT 1")
    assert found["has_error"] is True
    assert found["db_params"]["db_path"] == "mysql://ann:***@127.0.0.1:1/shop"
    assert "s3cr3t" not in str(found)
    assert "s3cr3t" not in next((tmp_path / "execution_accuracy").iterdir()).read_text()


# ---- other databases --------------------------------------------------------------------------------------------------


def test_duckdb_files_are_read_and_never_written(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "some.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS a, [1, range] AS l FROM range(3)")
    config = {"evaluation_technique": "exact_column_and_partial_cell", "db_params": {"dbms": DBMS.DUCKDB, "db_path": str(path)}}
    evaluator = Evaluation({**config, "timeout_s": 5})
    assert evaluator.run_evaluation("SELECT a, l FROM t ORDER BY a DESC", "SELECT a, l FROM t", log=False)["metrics"]["EX"] == 1
    assert evaluator.run_evaluation("SELECT a, l FROM t WHERE a > 0", "SELECT a, l FROM t", log=False)["metrics"]["EXR"] == 2 / 3
    for sql in (
        "DROP TABLE t",
        f"COPY t TO '{tmp_path}/x.csv'",
        f"SELECT * FROM read_csv('{path}')",
        "SET enable_external_access=true",
    ):
        assert evaluator.run_evaluation(sql, "SELECT a FROM t", log=False)["has_error"] is True
    assert not (tmp_path / "x.csv").exists()
    evaluator.close()


def test_a_missing_duckdb_file_is_an_error(tmp_path: Path) -> None:
    config = {"evaluation_technique": "execution_accuracy", "db_params": {"dbms": "duck", "db_path": str(tmp_path / "absent")}}
    found = Evaluation(config).run_evaluation("SELECT 1", "SELECT 1", log=False)
    assert "absent" in found["error_message"]
    assert not (tmp_path / "absent").exists()
