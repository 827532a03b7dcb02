"""The field's metrics: each accepts something that a neighbour rejects, and the other way round."""

from __future__ import annotations

import json
import math
import random
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nl2sql_gate.errors import ScorerFault, SettingsError
from nl2sql_gate.records import Case, Json, RowOrder, Side, State
from nl2sql_gate.scorers.command import CommandScorer
from nl2sql_gate.scorers.evalbench import (
    EvalbenchExactMatch,
    EvalbenchExecutableSql,
    EvalbenchRecallMatch,
    EvalbenchRegexpMatcher,
    EvalbenchReturnedSql,
    EvalbenchSetMatch,
)
from nl2sql_gate.scorers.exact_match import ExactMatch
from nl2sql_gate.scorers.execution_accuracy import ExecutionAccuracy
from nl2sql_gate.scorers.execution_accuracy_spider import ExecutionAccuracySpider
from nl2sql_gate.scorers.r_ves import RVes
from nl2sql_gate.scorers.soft_f1_bird import SoftF1Bird


def with_sql(case: Case, golden: str, generated: str) -> Case:
    sides = tuple(replace(side, sql=golden) for side in case.goldens)
    return replace(case, goldens=sides, generated=replace(case.generated, sql=generated))


@pytest.mark.parametrize(
    "golden, generated, sql, strict, spider",
    [
        (("a,b", [(1, "x"), (2, "y")]), ("b,a", [("x", 1), ("y", 2)]), "SELECT", 0, 1),
        (("a,b", [(1, "x"), (2, "y")]), ("b,a", [("y", 1), ("x", 2)]), "SELECT", 0, 0),
        (("a", [1, 1, 2]), ("a", [1, 2]), "SELECT", 0, 0),
        (("a", [1, 2]), ("a", [2, 1]), "SELECT a FROM t ORDER BY a", 1, 0),
        (("a,b", [(1, "x"), (2, "y")]), ("b,a", [("x", 1), ("y", 2)]), "SELECT a, b FROM t order by a", 0, 1),
        (("a,b", [(1, "x"), (2, "y")]), ("b,a", [("y", 2), ("x", 1)]), "SELECT a, b FROM t ORDER BY a", 0, 0),
        (("a", [0.3]), ("a", [0.1 + 0.2]), "SELECT", 1, 0),
        (("a,b", [(0.3, 0.1 + 0.2)]), ("a,b", [(0.1 + 0.2, 0.3)]), "SELECT", 1, 1),
        (("a", []), ("a,b", []), "SELECT", 0, 1),
        (("a", [[1]]), ("a", [[1]]), "SELECT", 1, 1),
    ],
)
def test_spider_takes_columns_in_any_order(
    scoring: SimpleNamespace, golden: Any, generated: Any, sql: str, strict: float, spider: float
) -> None:
    case = with_sql(scoring.dql_case(scoring.result(*golden), scoring.result(*generated)), sql, "SELECT 1")
    assert (strict, spider) == (ExecutionAccuracy().score(case).value, ExecutionAccuracySpider().score(case).value)


def test_spider_never_tries_orders_of_wide_results(scoring: SimpleNamespace) -> None:
    rng = random.Random(1)  # noqa: S311 - reproducible tables
    rows = [tuple(rng.randrange(3) for _ in range(32)) for _ in range(30)]
    order = rng.sample(range(32), 32)
    names = ",".join(f"c{i}" for i in range(32))
    case = scoring.dql_case(scoring.result(names, rows), scoring.result(names, [tuple(r[c] for c in order) for r in rows[::-1]]))
    assert ExecutionAccuracySpider().score(case).value == 1


@pytest.mark.parametrize(
    "golden, generated, expected",
    [
        ([], [], 1),
        ([1], [], 0),
        ([], [1], 0),
        ([1, 2], [1, 2], 1),
        ([1, 2], [2, 1], 0),
        ([1, 1, 2], [1, 2, 2], 1),
        ([(1, 2)], [(2, 1)], 1),
        ([(1, 2)], [(1, 3)], 0.5),
        ([(1, 2)], [(1,)], 2 / 3),
        ([1, 2, 3, 4], [1, 2], 2 / 3),
        ([[1]], [[1]], 1),
    ],
)
def test_soft_f1_meets_rows_place_by_place(scoring: SimpleNamespace, golden: Any, generated: Any, expected: float) -> None:
    case = scoring.dql_case(scoring.result("a,b", golden), scoring.result("a,b", generated))
    assert math.isclose(expected, SoftF1Bird().score(case).value)


@pytest.mark.parametrize(
    "golden_s, generated_s, reward", [(2, 1, 1.25), (1, 1, 1), (0.7, 1, 0.75), (0.3, 1, 0.5), (0.1, 1, 0.25), (9, 1, 1.25)]
)
def test_r_ves_rewards_by_steps(scoring: SimpleNamespace, golden_s: float, generated_s: float, reward: float) -> None:
    one = replace(scoring.result("a", [1]), elapsed_s=golden_s)
    case = scoring.dql_case(one, replace(one, elapsed_s=generated_s))
    assert math.isclose(math.sqrt(reward), RVes().score(case).value * math.sqrt(1.25))
    wrong = scoring.dql_case(one, replace(scoring.result("a", [2]), elapsed_s=generated_s))
    assert RVes().score(wrong).value == 0


def test_r_ves_does_not_guess_times(scoring: SimpleNamespace) -> None:
    with pytest.raises(ScorerFault):
        RVes().score(scoring.dql_case(scoring.result("a", [1]), scoring.result("a", [1])))


@pytest.mark.parametrize(
    "golden, generated, expected",
    [
        ("SELECT a FROM t WHERE b <> 1", "select  A\nfrom T -- all\nwhere b != 1;", 1),
        ("SELECT a FROM t", "SELECT b FROM t", 0),
        ("SELECT a FROM t WHERE x = 'A'", "SELECT a FROM t WHERE x = 'a'", 0),
        ("SELEC a  FROM t", "SELEC a FROM t;", 1),
        ("SELEC a FROM t", "SELEC b FROM t", 0),
    ],
)
def test_exact_match_sees_spelling_only(scoring: SimpleNamespace, golden: str, generated: str, expected: float) -> None:
    same = scoring.result("a", [1])
    assert expected == ExactMatch().score(with_sql(scoring.dql_case(same, same), golden, generated)).value


# ---- EvalBench ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "golden, generated, expected",
    [
        (("a", [1, 2]), ("a", [1, 2]), (1, 1, 1, 1)),
        (("a", [1, 2]), ("a", [2, 1]), (0, 1, 1, 1)),
        (("a", [1, 2]), ("b", [1, 2]), (0, 1, 0, 0)),
        (("a,b", [(1, 2)]), ("b,a", [(2, 1)]), (1, 0, 1, 1)),
        (("a", [1, 1]), ("a", [1]), (0, 1, 1, 0.5)),
        (("a", [1, 2, 3, 4, 5, 6]), ("a", [1]), (0, 0, 1, 1 / 6)),
        (("a", []), ("b", []), (1, 1, 1, 1)),
        (("a", [1]), ("a", []), (0, 0, 0, 0)),
        (("id,id", [(1, 2)]), ("id,id", [(1, 3)]), (0, 0, 0, 0)),
        (("a", [1]), ("a", ["1"]), (0, 0, 0, 0)),
        (("a", [1]), ("a", [Decimal(1)]), (1, 1, 1, 1)),
        (("a", [Json({"x": [1]})]), ("a", [Json({"x": [1]})]), (1, 1, 1, 1)),
        (("a", [[1, 2]]), ("a", [[2, 1]]), (0, 0, 0, 0)),
        (("a", [[1, 2]]), ("b", [[1, 2]]), (0, 0, 0, 0)),
    ],
)
def test_evalbench_on_rows(scoring: SimpleNamespace, golden: Any, generated: Any, expected: tuple[float, ...]) -> None:
    case = scoring.dql_case(scoring.result(*golden), scoring.result(*generated))
    exact, sets, recall, precision = expected
    assert exact == EvalbenchExactMatch().score(case).value
    assert sets == EvalbenchSetMatch().score(case).value
    assert math.isclose(recall, EvalbenchRecallMatch().score(case).value)
    assert math.isclose(precision, EvalbenchRecallMatch(score_type="precision").score(case).value)


def test_evalbench_passes_writes_that_do_the_wrong_thing(scoring: SimpleNamespace) -> None:
    gone, left = scoring.result("a", []), scoring.result("a", [1])
    missed = scoring.dml_case([gone], [left])
    assert ExecutionAccuracy().score(missed).value == 0
    # An eval result without rows is taken for none at all, and the statements themselves return nothing on both sides.
    assert EvalbenchExactMatch().score(missed).value == 1
    assert EvalbenchSetMatch().score(missed).value == 1
    assert EvalbenchExactMatch().score(scoring.dml_case([left], [gone])).value == 0


def test_evalbench_sees_names_and_types_of_ddl_only(scoring: SimpleNamespace) -> None:
    def state(kind: str, *more: str) -> State:
        columns = {"column t.a": {"table": "t", "name": "a", "type": kind}}
        return State({}, {"table t": {}, **columns, **{thing: {} for thing in more}})

    case = scoring.dml_case([], [])

    def sides(golden: State, generated: State) -> Case:
        return replace(
            case,
            query_type="ddl",
            goldens=(replace(case.goldens[0], before=State({}, {}), after=golden),),
            generated=replace(case.generated, before=State({}, {}), after=generated),
        )

    without_key = sides(state("INTEGER", "primary key t"), state("INTEGER"))
    assert (ExecutionAccuracy().score(without_key).value, EvalbenchExactMatch().score(without_key).value) == (0, 1)
    assert EvalbenchExactMatch().score(sides(state("INTEGER"), state("TEXT"))).value == 0


@pytest.mark.parametrize(
    "sql, expected", [("SELECT 1", 1), ("-- none", 0), ("/* a\n b */\n# c", 0), ("I am sorry", 1), ("-- x\nSELECT 1", 1)]
)
def test_evalbench_returned_sql(scoring: SimpleNamespace, sql: str, expected: float) -> None:
    one = scoring.result("a", [1])
    case = with_sql(scoring.dql_case(one, one), "SELECT 1", sql)
    assert expected == EvalbenchReturnedSql().score(case).value
    assert EvalbenchExecutableSql().score(case).value == 1


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"regexp_string_list": ["FROM t", "JOIN"]}, 1),
        ({"regexp_string_list": ["FROM t", "JOIN"], "match_all_patterns": True}, 0),
        ({"regexp_string_list": ["from t"]}, 0),
        ({"regexp_string_list": ["from t"], "invert_results": True}, 1),
        ({"regexp_string_list": ["SELECT a"], "match_whole_query": True}, 0),
        ({"regexp_string_list": [r"SELECT a FROM \w+"], "match_whole_query": True}, 1),
    ],
)
def test_evalbench_regexp_matcher(scoring: SimpleNamespace, options: dict[str, Any], expected: float) -> None:
    one = scoring.result("a", [1])
    case = with_sql(scoring.dql_case(one, one), "SELECT 1", "`SELECT  a\nFROM t`")
    assert expected == EvalbenchRegexpMatcher(**options).score(case).value


@pytest.mark.parametrize("options", [{}, {"regexp_string_list": ["("]}])
def test_evalbench_regexp_matcher_refuses_options_that_say_nothing(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        EvalbenchRegexpMatcher(**options)


# ---- somebody else's program ------------------------------------------------------------------------------------------------

PROGRAM = """
import json, sys
case = json.load(sys.stdin)
{body}
"""


def scorer(body: str, **options: Any) -> CommandScorer:
    return CommandScorer(command=[sys.executable, "-c", PROGRAM.format(body=body)], **options)


def test_a_program_sees_typed_values_and_its_score_counts(scoring: SimpleNamespace) -> None:
    body = "print(json.dumps({'score': 0.25, 'reason': json.dumps(case['goldens'][0]['result']['rows'][0])}))"
    rows = [(1, None, "x", Decimal("1.10"), b"\xff", float("inf"), [2**60], Json({"a": 1}))]
    case = scoring.dql_case(scoring.result("a,b,c,d,e,f,g,h", rows), scoring.result("a", [1]), order=RowOrder("strict"))
    found = scorer(body).score(case)
    assert found.value == 0.25
    assert found.reason is not None
    assert json.loads(found.reason.message) == [
        *(1, None, "x", {"type": "decimal", "value": "1.10"}, {"type": "bytes", "value": "/w=="}),
        *({"type": "float", "value": "inf"}, {"type": "array", "value": [{"type": "integer", "value": str(2**60)}]}),
        {"type": "json", "value": {"a": 1}},
    ]


@pytest.mark.parametrize(
    "body, words",
    [
        ("print('score 1')", "no JSON"),
        ("print('[]')", "no JSON object"),
        ("print(json.dumps({'score': 2}))", "not a number from 0 to 1"),
        ("print(json.dumps({'score': True}))", "not a number from 0 to 1"),
        ("print(json.dumps({}))", "not a number from 0 to 1"),
        ("sys.exit('out of paper')", "exit code 1"),
    ],
)
def test_a_program_that_gives_no_score_is_a_fault(scoring: SimpleNamespace, body: str, words: str) -> None:
    with pytest.raises(ScorerFault, match=words):
        scorer(body).score(scoring.dql_case(scoring.result("a", [1]), scoring.result("a", [1])))


def test_a_program_that_hangs_is_killed_with_its_children(scoring: SimpleNamespace, tmp_path: Any) -> None:
    body = (
        "import subprocess, pathlib\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid))\nchild.wait()"
    )
    with pytest.raises(ScorerFault, match="within 1 s"):
        scorer(body, timeout_s=1).score(scoring.dql_case(scoring.result("a", [1]), scoring.result("a", [1])))
    assert not is_running(int((tmp_path / "pid").read_text()))


def is_running(pid: int) -> bool:
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", maxsplit=1)[1].split()[0] == "Z":
                return False
        except (FileNotFoundError, ProcessLookupError):
            return False
    return True


def test_a_program_that_is_not_there_is_a_fault_and_none_is_a_setting(scoring: SimpleNamespace) -> None:
    with pytest.raises(ScorerFault, match="cannot be started"):
        CommandScorer(command="/nowhere/scorer --fast").score(
            scoring.dql_case(scoring.result("a", [1]), scoring.result("a", [1]))
        )
    with pytest.raises(SettingsError, match="NL2SQL_GATE_SCORER_COMMAND"):
        CommandScorer()


# ---- effects by state -----------------------------------------------------------------------------------------------------


@pytest.fixture
def states() -> dict[str, State]:
    """A stock of two and a log of one; golden deletes one of the stock."""
    from nl2sql_gate.state import TableState, content_of

    def table(*rows: Any) -> TableState:
        return TableState(["id", "n"], ["id"], lambda: content_of(rows))

    stock, less, log, none = table((1, 5), (2, 6)), table((2, 6)), table((1, 0)), table()
    catalogue = {"table stock": {}, "table log": {}}
    return {
        "before": State({"stock": stock, "log": log}, catalogue),
        "golden": State({"stock": less, "log": log}, catalogue),
        "same": State({"stock": table((2, 6)), "log": log}, catalogue),
        "collateral": State({"stock": table((2, 6)), "log": none}, catalogue),
        "indexed": State({"stock": table((2, 6)), "log": log}, {**catalogue, "index i": {}}),
    }


@pytest.mark.parametrize(
    "after, evals, strictness, expected",
    [
        ("same", False, "effects", (1, "")),
        ("before", False, "effects", (0, "effect")),
        ("collateral", False, "effects", (0, "collateral")),
        ("same", True, "effects", (1, "")),
        ("collateral", True, "effects", (0, "collateral")),
        ("indexed", False, "effects", (1, "catalogue")),
        ("indexed", False, "strict", (0, "effect")),
    ],
)
def test_the_state_decides_where_no_query_does_and_collateral_always_fails(
    scoring: SimpleNamespace, states: dict[str, State], after: str, evals: bool, strictness: str, expected: tuple[float, str]
) -> None:
    seen = [scoring.result("n", [6])] if evals else []
    case = scoring.dml_case(seen, seen)
    golden: Side = replace(case.goldens[0], before=states["before"], after=states["golden"])
    generated = replace(case.generated, before=states["before"], after=states[after])
    score = ExecutionAccuracy().score(replace(case, goldens=(golden,), generated=generated, state=strictness))
    assert expected == (score.value, score.reason.code if score.reason else "")


def test_an_effect_that_nothing_observes_is_a_fault(scoring: SimpleNamespace) -> None:
    with pytest.raises(ScorerFault):
        ExecutionAccuracy().score(scoring.dml_case([], []))
