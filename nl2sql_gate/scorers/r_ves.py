"""Efficiency as BIRD's reward-based valid efficiency score defines it, from one run of each side."""

from __future__ import annotations

import math

from nl2sql_gate.errors import ScorerFault
from nl2sql_gate.records import Case, Reason, Score
from nl2sql_gate.scorers.execution_accuracy_bird import ExecutionAccuracyBird, equal_sets

_STEPS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))
_BEST = math.sqrt(1.25)


class RVes:
    """The square root of BIRD's reward over its greatest value √1.25, in [0, 1]; times √1.25 × 100 it is BIRD's number.

    Rows, columns, values, NULL, empty results: a wrong result, by `execution_accuracy_bird`, is 0. A right one is rewarded by
    golden's time over its own: 1.25 from twice as fast, 1 from as fast, 0.75 from half, 0.5 from a quarter, else 0.25.
    Noise: BIRD takes the mean of 100 runs without outliers; here each side ran once, so queries of a few milliseconds land on
    either side of a step by chance. Of use as a mean over many items, never as a gate.
    dml and ddl are not timed: a fault.
    """

    name = "r_ves"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case. Raises `ScorerFault` where times are not known."""
        if case.query_type != "dql":
            raise ScorerFault("only queries are timed")
        right = [golden for golden in case.goldens if equal_sets(golden.result, case.generated.result)]
        if not right:
            return Score(0.0, ExecutionAccuracyBird().score(case).reason, self.version)
        golden_s, own_s = right[0].result.elapsed_s, case.generated.result.elapsed_s
        if golden_s <= 0 or own_s <= 0:
            raise ScorerFault("the times of the queries are not known")
        ratio = golden_s / own_s
        reward = next(reward for least, reward in _STEPS if ratio >= least)
        detail = {"golden_s": golden_s, "generated_s": own_s, "ratio": ratio, "reward": reward, "runs": 1}
        words = f"golden took {golden_s * 1e3:.1f} ms, this {own_s * 1e3:.1f} ms, in one run each"
        return Score(math.sqrt(reward) / _BEST, Reason("time", words, detail), self.version)
