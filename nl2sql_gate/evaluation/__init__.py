"""SQLMorph's public class over our parts: one pair of queries, one technique, a dictionary of everything that happened.

`python -m nl2sql_gate.evaluation --predicted-sql … --ground-truth-sql …` is its command line. The names `predicted_sql`,
`ground_truth_sql`, `EXP` and `EXR` are SQLMorph's and are used nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nl2sql_gate.evaluation.configuration import (
        DBMS,
        ConfigurationError,
        EvaluationTechnique,
        OpenAIModel,
        load_config_from_env,
    )
    from nl2sql_gate.evaluation.evaluator import Evaluation

__all__ = ["DBMS", "ConfigurationError", "Evaluation", "EvaluationTechnique", "OpenAIModel", "load_config_from_env"]


def __getattr__(name: str) -> Any:
    # Scoring a batch needs none of these, and loading them takes longer than twenty queries.
    if name == "Evaluation":
        from nl2sql_gate.evaluation.evaluator import Evaluation

        return Evaluation
    if name in __all__:
        from nl2sql_gate.evaluation import configuration

        return getattr(configuration, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
