"""EvalBench's scorers as it computes them (google-evalbench 1.20.0), for numbers that others published with it.

None of them is fit to gate: each says below what it is known to let pass. They see the first golden query only, and the first
eval_query only. EvalBench counts an item as passed at 100, which is 1 here. Answers that failed or held no SQL never come this
far and are 0, also where EvalBench gives 100 to nothing at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.records import Case, Cell, Reason, ResultSet, Score, Side, SqlError, State
from nl2sql_gate.scorers.cell_equality import cell_key

Document = dict[str, Cell]


class EvalbenchExactMatch:
    """1 if the rows, or what the statement left behind, are equal as documents, else 0.

    Rows: a sequence, always. Columns: by name, in any order; a name that occurs again gets `_1`, `_2`.
    Values: Python's equality; NULL equals NULL; no tolerance. Empty results: equal to each other.
    dml: the rows of eval_query; ddl: tables with their columns' names and types. Where golden's are empty, the rows of the
    statement itself, which for writes are none.
    Known false positive: where eval_query rightly returns nothing, a statement that does nothing passes; for ddl everything but
    names and types of columns is invisible, a missing index or key too.
    Known false negative: another alias, another order of rows without an ORDER BY.
    """

    name = "evalbench_exact_match"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case."""
        golden, generated = case.goldens[0], case.generated
        left = _left_behind(golden, case.query_type)
        equal = (
            left == _left_behind(generated, case.query_type)
            if left
            else _documents(golden.result) == _documents(generated.result)
        )
        return _score(equal, "the documents differ")


class EvalbenchSetMatch:
    """1 if the sets of rows are equal, else 0: EvalBench's spelling of BIRD's EX.

    Rows: a set. Columns: by position, names ignored; where a cell is an array or a document, whole rows by name as a multiset.
    Values: Python's equality; NULL equals NULL; no tolerance. Empty results: equal to each other.
    Known false positive: every dml and ddl statement that runs (both sides return no rows); lost or added duplicates, a wrong
    ORDER BY, LIMIT or DISTINCT.
    """

    name = "evalbench_set_match"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case."""
        golden, generated = case.goldens[0].result, case.generated.result
        if _is_flat(golden) and _is_flat(generated):
            equal = set(golden.rows) == set(generated.rows)
        else:
            equal = Counter(map(_content, _documents(golden))) == Counter(map(_content, _documents(generated)))
        return _score(equal, "the sets of rows differ")


class EvalbenchRecallMatch:
    """Distinct rows that both sides have over the number of generated rows (`recall`) or golden rows (`precision`), in [0, 1].

    The two words are swapped as EvalBench swaps them. Rows: distinct ones above the line, all of them below. Columns: by name, in
    any order. Values: Python's equality; NULL equals NULL; no tolerance. Empty results: 1 where both are empty, 0 where one is.
    Known false positive: one right row of six is a "recall" of 1; every dml and ddl statement that runs.
    Options: `score_type`, `recall` (default) or `precision`.
    """

    name = "evalbench_recall_match"
    version = "1"

    def __init__(self, *, score_type: str = "recall") -> None:
        if score_type not in {"recall", "precision"}:
            raise SettingsError(f"{self.name}: score_type is recall or precision, not {score_type!r}")
        self._swapped = score_type

    def score(self, case: Case) -> Score:
        """The score of an answered case."""
        golden, generated = _documents(case.goldens[0].result), _documents(case.generated.result)
        if golden == generated:
            return Score(1.0, version=self.version)
        common = len(set(map(_content, golden)) & set(map(_content, generated)))
        below = len(generated) if self._swapped == "recall" else len(golden)
        value = common / below if below else 0.0
        words = f"{common} distinct rows in common, {len(generated)} generated, {len(golden)} golden"
        return Score(value, Reason("recall_match", words), self.version)


class EvalbenchReturnedSql:
    """1 if the text has a line that is neither blank nor a comment, else 0. Rows, columns and values are not looked at.

    Known false positive: any prose counts as SQL.
    """

    name = "evalbench_returned_sql"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case."""
        text = re.sub(r"/\*.*?\*/", "", case.generated.sql, flags=re.DOTALL)
        lines = [line.strip() for line in text.splitlines()]
        return _score(any(line and not line.startswith(("--", "#")) for line in lines), "there is no line of SQL")


class EvalbenchExecutableSql:
    """1 where the SQL ran: every answered case. Rows, columns and values are not looked at.

    Known false positive: any statement that runs.
    """

    name = "evalbench_executable_sql"
    version = "1"

    def score(self, case: Case) -> Score:
        """The score of an answered case."""
        del case
        return Score(1.0, version=self.version)


class EvalbenchRegexpMatcher:
    """1 if the text matches patterns as the options say, else 0. Rows, columns and values are not looked at.

    The text loses outer backticks, and runs of white space become one blank; patterns are searched for with regard to case.
    Known false positive: whatever the patterns do not mention.
    Options: `regexp_string_list` (required), `match_all_patterns`, `match_whole_query`, `invert_results` (all false).
    """

    name = "evalbench_regexp_matcher"
    version = "1"

    def __init__(
        self,
        *,
        regexp_string_list: Sequence[str] = (),
        match_all_patterns: bool = False,
        match_whole_query: bool = False,
        invert_results: bool = False,
    ) -> None:
        if not regexp_string_list:
            raise SettingsError(
                f"{self.name} needs regexp_string_list",
                meaning="Without a pattern there is nothing to look for.",
                next_step="Give it a list of regular expressions.",
            )
        try:
            self._patterns = [re.compile(pattern) for pattern in regexp_string_list]
        except re.error as error:
            raise SettingsError(f"{self.name}: {error.pattern!r} is no regular expression: {error}") from error
        self._decide = all if match_all_patterns else any
        self._whole = match_whole_query
        self._inverted = invert_results

    def score(self, case: Case) -> Score:
        """The score of an answered case."""
        text = " ".join(case.generated.sql.strip().strip("`").split())
        hits = [self._matches(pattern, text) for pattern in self._patterns]
        return _score(self._decide(hits) is not self._inverted, "the patterns say no")

    def _matches(self, pattern: re.Pattern[str], text: str) -> bool:
        found = pattern.search(text)
        return found is not None and (not self._whole or found.group() == text)


def _score(equal: bool, words: str) -> Score:
    return Score(1.0) if equal else Score(0.0, Reason("evalbench", words))


def _documents(result: ResultSet) -> list[Document]:
    names = _names(result.columns)
    return [dict(zip(names, row, strict=True)) for row in result.rows]


def _names(columns: Sequence[str]) -> list[str]:
    seen: Counter[str] = Counter()
    names = []
    for column in columns:
        names.append(f"{column}_{seen[column]}" if seen[column] else column)
        seen[column] += 1
    return names


def _left_behind(side: Side, query_type: str) -> Any:
    """What EvalBench calls the eval result: for ddl the tables, for dml the rows of the first eval_query."""
    if query_type == "ddl":
        return _tables(side.after)
    first = side.evals[0] if side.evals else None
    return [] if first is None or isinstance(first, SqlError) else _documents(first)


def _tables(state: State | None) -> Mapping[str, list[tuple[str, str]]]:
    tables: dict[str, list[tuple[str, str]]] = {}
    for thing, description in (state.catalogue if state is not None else {}).items():
        if thing.startswith("column "):
            tables.setdefault(str(description.get("table")), []).append(
                (str(description.get("name")), str(description.get("type")))
            )
    return tables


def _is_flat(result: ResultSet) -> bool:
    try:
        set(result.rows)
    except TypeError:
        return False
    return True


def _content(document: Document) -> Hashable:
    return tuple((name, cell_key(document[name])) for name in sorted(document))
