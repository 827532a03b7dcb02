"""The command line of an evaluation, configured by the environment variables of `load_config_from_env`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from nl2sql_gate.errors import GateError
from nl2sql_gate.evaluation import Evaluation, load_config_from_env
from nl2sql_gate.evaluation.logs import plain


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate one pair of queries. Exit code 0, 1 where a query failed, 2 where the configuration is bad."""
    parser = argparse.ArgumentParser(prog="python -m nl2sql_gate.evaluation", description=__doc__)
    parser.add_argument("--predicted-sql", required=True, help="the query that a model wrote")
    parser.add_argument("--ground-truth-sql", required=True, help="the query that is right")
    parser.add_argument("--json", action="store_true", help="print the whole context as JSON")
    given = parser.parse_args(arguments)
    try:
        config = load_config_from_env()
        evaluator = Evaluation(config)
        found = evaluator.run_evaluation(given.predicted_sql, given.ground_truth_sql, log=config["enable_log"])
    except GateError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - a command line
        return 2
    evaluator.close()
    if given.json:
        print(json.dumps(plain(found), indent=2))  # noqa: T201
    else:
        print("Evaluation Results:")  # noqa: T201
        print(f"Metrics: {found['metrics']}")  # noqa: T201
        print(f"Latency: {found['latency']}")  # noqa: T201
    if found["has_error"] and "error_message" in found:
        print(f"{found['error_side']}: {found['error_message']}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
