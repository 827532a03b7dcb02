"""SQLMorph's public class over our parts: one pair of queries, one technique, a dictionary of everything that happened.

`python -m nl2sql_gate.evaluation --predicted-sql … --ground-truth-sql …` is its command line. The names `predicted_sql`,
`ground_truth_sql`, `EXP` and `EXR` are SQLMorph's and are used nowhere else.
"""

from nl2sql_gate.evaluation.configuration import (
    DBMS,
    ConfigurationError,
    EvaluationTechnique,
    OpenAIModel,
    load_config_from_env,
)
from nl2sql_gate.evaluation.evaluator import Evaluation

__all__ = ["DBMS", "ConfigurationError", "Evaluation", "EvaluationTechnique", "OpenAIModel", "load_config_from_env"]
