"""What an evaluation is told: techniques, databases, models, the dictionary and the environment variables, old spellings too."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from nl2sql_gate.dialects import canonical
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.protocols import Embedding
from nl2sql_gate.records import Limits


class ConfigurationError(SettingsError, ValueError):
    """The configuration cannot be used; also a `ValueError`, as callers of the original expect."""


class EvaluationTechnique(Enum):
    """How two results are compared."""

    EXECUTION_ACCURACY = "execution_accuracy"
    EXACT_COLUMN_AND_EXACT_CELL = "exact_column_and_exact_cell"
    EXACT_COLUMN_AND_PARTIAL_CELL = "exact_column_and_partial_cell"
    SEMANTIC_COLUMN_AND_EXACT_CELL = "semantic_column_and_exact_cell"
    SEMANTIC_COLUMN_AND_PARTIAL_CELL = "semantic_column_and_partial_cell"
    NO_COLUMN_AND_PARTIAL_CELL = "no_column_and_partial_cell"
    UNIFIED_COLUMN_AND_SEMANTIC_ROW = "unified_column_and_semantic_row"
    FREE_COLUMN_AND_PARTIAL_CELL = NO_COLUMN_AND_PARTIAL_CELL

    @classmethod
    def _missing_(cls, value: object) -> EvaluationTechnique | None:
        if value == "free_column_and_partial_cell":
            warn_old("free_column_and_partial_cell", "no_column_and_partial_cell")
            return cls.NO_COLUMN_AND_PARTIAL_CELL
        return None

    @property
    def is_semantic(self) -> bool:
        """Whether it needs an embedding."""
        return "semantic" in self.value


class DBMS(Enum):
    """Where the queries run. `db_path` is a file for the first two, a connection string for the others."""

    SQLITE = "sqlite"
    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    MYSQL = "mysql"
    MARIADB = "mariadb"
    SQLSERVER = "sqlserver"

    @property
    def is_file(self) -> bool:
        """Whether a database is a file that is read in this process."""
        return self in {DBMS.SQLITE, DBMS.DUCKDB}


class OpenAIModel(Enum):
    """Models of the OpenAI API by the names that SQLMorph gives them; only the embedding models are of use here."""

    GPT_52 = "gpt-5.2"
    O1_PREVIEW = "o1-preview"
    O1_MINI = "o1-mini"
    GPT_4O = "gpt-4o"
    GPT_4O_MINI = "gpt-4o-mini"
    GPT_4_TURBO = "gpt-4-turbo"
    GPT_4 = "gpt-4"
    GPT_3_5_TURBO = "gpt-3.5-turbo"
    TEXT_EMBEDDING_3_LARGE = "text-embedding-3-large"
    TEXT_EMBEDDING_3_SMALL = "text-embedding-3-small"
    TEXT_EMBEDDING_ADA_002 = "text-embedding-ada-002"


@dataclass(frozen=True, slots=True)
class Configuration:
    """The dictionary, read and checked."""

    technique: EvaluationTechnique
    dbms: DBMS
    db_path: str
    penalize_extra_pred_cols: bool
    embedding_model: OpenAIModel | Embedding | str | None
    logs_dir_path: Path | None
    upstream: bool
    limits: Limits
    insist: bool = False


_KEYS = {
    "evaluation_technique",
    "db_params",
    "penalize_extra_pred_cols",
    "embedding_model",
    "logs_dir_path",
    "enable_log",
    "compat",
    "timeout_s",
    "max_rows",
}
_OLD_KEYS = {"penalize_extra_columns": "penalize_extra_pred_cols"}
_OLD_VARIABLES = {"PENALIZE_EXTRA_COLUMNS": "PENALIZE_EXTRA_PRED_COLS"}
Member = TypeVar("Member", bound=Enum)


def read_configuration(config: Mapping[str, Any]) -> Configuration:
    """The configuration in `config`. Enum members may be given by their values. Raises `ConfigurationError`."""
    given = dict(config)
    for old, new in _OLD_KEYS.items():
        if old in given:
            warn_old(old, new)
            given.setdefault(new, given.pop(old))
            given.pop(old, None)
    unknown = sorted(set(given) - _KEYS)
    if unknown:
        near = difflib.get_close_matches(unknown[0], sorted(_KEYS), n=1)
        raise ConfigurationError(
            f"unknown configuration key {unknown[0]!r}", next_step=f"Did you mean {near[0]!r}?" if near else "Remove it."
        )
    parameters = given.get("db_params")
    if not isinstance(parameters, Mapping) or "dbms" not in parameters or "db_path" not in parameters:
        raise ConfigurationError("db_params must hold dbms and db_path", where=[f"given: {_shape(parameters)}"])
    if given.get("compat") not in {None, "sqlmorph"}:
        raise ConfigurationError(f"compat must be 'sqlmorph' or absent, not {given['compat']!r}")
    return Configuration(
        technique=_member(EvaluationTechnique, given.get("evaluation_technique"), "evaluation_technique"),
        dbms=_dbms(parameters["dbms"]),
        db_path=str(parameters["db_path"]),
        penalize_extra_pred_cols=_truth(given.get("penalize_extra_pred_cols", True), "penalize_extra_pred_cols"),
        embedding_model=_embedding_model(given.get("embedding_model")),
        logs_dir_path=Path(given["logs_dir_path"]) if given.get("logs_dir_path") else None,
        upstream=given.get("compat") == "sqlmorph",
        limits=Limits(
            statement_s=_positive(given.get("timeout_s", 30.0), "timeout_s"),
            rows=int(_positive(given.get("max_rows", 1_000_000), "max_rows")),
        ),
        insist=_truth(parameters.get("insist", False), "db_params.insist"),
    )


def load_config_from_env(environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The configuration that the environment holds, as the dictionary that `Evaluation` takes.

    EVAL_TECHNIQUE (a value of the enum), DBMS (a member's name), DB_PATH, EMBEDDING_MODEL (a member's name) and LOGS_DIR_PATH are
    required; PENALIZE_EXTRA_PRED_COLS defaults to true, ENABLE_LOG to false. Raises `ConfigurationError`, a `ValueError`.
    """
    given = dict(os.environ if environment is None else environment)
    for old, new in _OLD_VARIABLES.items():
        if old in given:
            warn_old(old, new)
            given.setdefault(new, given[old])
    for name in ("EVAL_TECHNIQUE", "DBMS", "DB_PATH", "EMBEDDING_MODEL", "LOGS_DIR_PATH"):
        if not given.get(name):
            raise ConfigurationError(
                f"the environment variable {name} is required",
                meaning="Nothing was evaluated.",
                next_step="Set it; docs/scorers.md lists all variables.",
            )
    return {
        "evaluation_technique": _member(EvaluationTechnique, given["EVAL_TECHNIQUE"], "EVAL_TECHNIQUE"),
        "db_params": {"dbms": _dbms(given["DBMS"], "DBMS"), "db_path": given["DB_PATH"]},
        "penalize_extra_pred_cols": _spelled(given.get("PENALIZE_EXTRA_PRED_COLS", "true"), "PENALIZE_EXTRA_PRED_COLS"),
        "embedding_model": _by_name(OpenAIModel, given["EMBEDDING_MODEL"], "EMBEDDING_MODEL"),
        "logs_dir_path": given["LOGS_DIR_PATH"],
        "enable_log": _spelled(given.get("ENABLE_LOG", "false"), "ENABLE_LOG"),
    }


def warn_old(old: str, new: str) -> None:
    """Say once a place that a spelling is an old one."""
    warnings.warn(f"{old} is an old spelling of {new}", FutureWarning, stacklevel=4)


def _member(kind: type[Member], value: Any, key: str) -> Member:
    if isinstance(value, kind):
        return value
    try:
        return kind(value)
    except ValueError:
        raise _no_member(value, key, [str(member.value) for member in kind]) from None


def _by_name(kind: type[Member], name: str, key: str) -> Member:
    if name in kind.__members__:
        return kind[name]
    raise _no_member(name, key, list(kind.__members__))


def _dbms(value: Any, key: str = "db_params.dbms") -> DBMS:
    return value if isinstance(value, DBMS) else _member(DBMS, canonical(str(value)), key)


def _no_member(value: Any, key: str, known: list[str]) -> ConfigurationError:
    near = difflib.get_close_matches(str(value), known, n=1)
    return ConfigurationError(
        f"{key} has no value {value!r}",
        where=[f"known: {', '.join(known)}"],
        meaning="Nothing was evaluated.",
        next_step=f"Did you mean {near[0]!r}?" if near else "Choose one of these.",
    )


def _embedding_model(value: Any) -> OpenAIModel | Embedding | str | None:
    if isinstance(value, OpenAIModel) or value is None or isinstance(value, str | Embedding):
        return value
    raise ConfigurationError(f"embedding_model must be an OpenAIModel, a model's name or an embedding, not {_shape(value)}")


def _truth(value: Any, key: str) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigurationError(f"{key} must be True or False, not {value!r}")


def _spelled(value: str, key: str) -> bool:
    if value.lower() in {"true", "false"}:
        return value.lower() == "true"
    raise ConfigurationError(f"{key} must be true or false, not {value!r}")


def _positive(value: Any, key: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    raise ConfigurationError(f"{key} must be a positive number, not {value!r}")


def _shape(value: Any) -> str:
    return f"keys {', '.join(map(str, value))}" if isinstance(value, Mapping) else type(value).__name__
