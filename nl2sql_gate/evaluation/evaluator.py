"""The class `Evaluation`: run two queries, compare their results by one technique, say everything that happened."""

from __future__ import annotations

import time
import warnings
import weakref
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from nl2sql_gate.embeddings import default_embedding, openai_embedding
from nl2sql_gate.errors import GateError
from nl2sql_gate.evaluation.configuration import (
    Configuration,
    ConfigurationError,
    EvaluationTechnique,
    OpenAIModel,
    read_configuration,
)
from nl2sql_gate.evaluation.connection import Passwords
from nl2sql_gate.evaluation.logs import write_log
from nl2sql_gate.evaluation.metrics import NOTHING, PERFECT
from nl2sql_gate.evaluation.reading import FAULT, Reading
from nl2sql_gate.protocols import Embedding
from nl2sql_gate.records import SqlError
from nl2sql_gate.scorers.execution_accuracy_bird import equal_sets

STAMP = "%Y-%m-%d_%H-%M-%S"
_COUNTED = {
    EvaluationTechnique.EXACT_COLUMN_AND_EXACT_CELL,
    EvaluationTechnique.EXACT_COLUMN_AND_PARTIAL_CELL,
    EvaluationTechnique.SEMANTIC_COLUMN_AND_EXACT_CELL,
    EvaluationTechnique.SEMANTIC_COLUMN_AND_PARTIAL_CELL,
    EvaluationTechnique.NO_COLUMN_AND_PARTIAL_CELL,
}


class Evaluation:
    """Scores pairs of queries on one database by one technique.

    `config` holds `evaluation_technique`, `db_params` (`dbms`, `db_path`), `penalize_extra_pred_cols` (default True),
    `embedding_model`, `logs_dir_path`; beyond the original `compat` ("sqlmorph": the original's own numbers where they differ
    from its description), `timeout_s` (30) and `max_rows` (1,000,000).

    Both queries run read-only; the ground truth runs once. EX is 1 where the sets of rows are equal by Python's equality, and
    then all other metrics are 1 too. What else counts is told in `pipelines` and docs/scorers.md.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self._configuration = read_configuration(config)
        self._passwords = Passwords("" if self._configuration.dbms.is_file else self._configuration.db_path)
        self._reading = Reading(self._configuration)
        self._embedding = _embedding(self._configuration) if self._configuration.technique.is_semantic else None
        self._finalizer = weakref.finalize(self, self._reading.close)

    def run_evaluation(self, predicted_sql: str, ground_truth_sql: str, log: bool = True) -> dict[str, Any]:  # noqa: FBT002 - the original's signature
        """The context of one evaluation, always with `metrics`, `latency` and `has_error`.

        Where a query fails `has_error` is True, all metrics are 0 and `error_message` holds the database's own words. With `log`
        the context is written to `<logs_dir_path>/<technique>/evaluation-<time>.json`. Raises `ConfigurationError` only.
        """
        configuration = self._configuration
        if log and configuration.logs_dir_path is None:
            raise ConfigurationError("log=True needs logs_dir_path", next_step="Set logs_dir_path, or pass log=False.")
        started = time.perf_counter()
        context: dict[str, Any] = {
            "predicted_sql": predicted_sql,
            "ground_truth_sql": ground_truth_sql,
            "db_params": {**self.config["db_params"], "db_path": self._passwords.shown or configuration.db_path},
            "has_error": False,
        }
        context["metrics"] = self._evaluate(context, predicted_sql, ground_truth_sql)
        context["latency"] = time.perf_counter() - started
        if log and configuration.logs_dir_path is not None:
            # Local time, as the file names of the original have it.
            stamp = datetime.now().strftime(STAMP)  # noqa: DTZ005
            context["evaluation_timestamp"] = stamp
            write_log(context, configuration.logs_dir_path / configuration.technique.value, stamp)
        return context

    def close(self) -> None:
        """Close the connections; they also close with the object."""
        self._finalizer()

    def _evaluate(self, context: dict[str, Any], predicted_sql: str, ground_truth_sql: str) -> dict[str, float]:
        configuration = self._configuration
        simple = configuration.technique is EvaluationTechnique.EXECUTION_ACCURACY
        predicted = self._reading.run(predicted_sql)
        if isinstance(predicted, SqlError):
            return self._refused(context, predicted, "predicted_sql")
        truth = self._reading.run_once(ground_truth_sql)
        if isinstance(truth, SqlError):
            return self._refused(context, truth, "ground_truth_sql")
        context.update(pred_rows=list(predicted.rows), gt_rows=list(truth.rows))
        equal = equal_sets(truth, predicted)
        if simple:
            context["EX"] = int(equal)
            return {"EX": int(equal)}
        context.update(pred_cols=list(predicted.columns), gt_cols=list(truth.columns), ex_is_one=equal)
        self._name_model(context)
        if equal:
            return dict(PERFECT)
        from nl2sql_gate.evaluation.pipelines import PIPELINES

        try:
            return PIPELINES[configuration.technique](context, truth, predicted, configuration, self._embedding)
        except GateError as error:
            return self._failed(context, "; ".join([error.what, *error.where]), "embedding_model")

    def _refused(self, context: dict[str, Any], error: SqlError, side: str) -> dict[str, float]:
        return self._failed(context, error.message, "database" if error.reason == FAULT else side)

    def _failed(self, context: dict[str, Any], message: str, side: str) -> dict[str, float]:
        """Metrics of a failure; `error_side` says whose it is: a query's key in the context, `database` or `embedding_model`."""
        context.update(has_error=True, error_message=self._passwords.hide(message), error_side=side)
        if self._configuration.technique is EvaluationTechnique.EXECUTION_ACCURACY:
            return {"EX": 0}
        if self._configuration.technique in _COUNTED:
            context.update(matched_cells=0, ground_truth_cells=0, predicted_cells=0)
        return dict(NOTHING)

    def _name_model(self, context: dict[str, Any]) -> None:
        technique, model = self._configuration.technique, self._configuration.embedding_model
        if technique.is_semantic:
            name = (
                model.value
                if isinstance(model, OpenAIModel)
                else model
                if isinstance(model, str)
                else type(self._embedding).__name__
            )
            unified = technique is EvaluationTechnique.UNIFIED_COLUMN_AND_SEMANTIC_ROW
            context["embedding_model" if unified else "embedding_model_name"] = name


def _embedding(configuration: Configuration) -> Embedding:
    """What the configuration embeds with. Raises `SettingsError` where there is neither a key nor a local model."""
    model = configuration.embedding_model
    if isinstance(model, Embedding):
        return model
    name = model.value if isinstance(model, OpenAIModel) else model
    if name is None or name == "local":
        return default_embedding()
    if isinstance(model, OpenAIModel) and not name.startswith("text-embedding"):
        raise ConfigurationError(f"{model.name} makes no embeddings", next_step="Use TEXT_EMBEDDING_3_SMALL, for example.")
    try:
        return openai_embedding(name)
    except GateError:
        # No key. A model on this machine may stand in, but not unsaid: its numbers are its own.
        embedding = default_embedding()
        warnings.warn(f"OPENAI_API_KEY is not set: the local model stands in for {name}", UserWarning, stacklevel=3)
        return embedding
