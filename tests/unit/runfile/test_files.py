"""Run and baseline files: what is kept, the same bytes for the same run, and a message for everything that is no such file."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from nl2sql_gate.errors import BaselineError
from nl2sql_gate.records import CaseKey, CaseResult, Place, Reason, ResultSet, Run, Score, ScoreFault, SqlError, Warned
from nl2sql_gate.runfile import baseline_bytes, read_run, redact_run, run_bytes, write_baseline, write_run

FULL = CaseResult(
    key=CaseKey("43", "pg16", "shop", 1),
    outcome="answered",
    digest="d1",
    query_type="dml",
    question="Wie viele Käufe?\u2028",
    tags=("a", "b"),
    difficulty="hard",
    sql="SELECT 'geheim'",
    golden_sql=("SELECT 1", "SELECT 2"),
    reply="half a pair: \ud800",
    rule="fence",
    scores={"ex": Score(0.5, Reason("rows_missing", "row 'x' missing", {"rows": [1, 2]}), "2"), "judge": ScoreFault("timed out")},
    reason=Reason("rows_missing", "row 'x' missing"),
    error=SqlError("value 'x' too long", "22001", "error", 0.25),
    result=ResultSet(("n", "n"), ((1, Decimal("1.10")), (None, math.nan)), 2, 0.1),
    golden_result=ResultSet((), ()),
    result_rows=2000,
    golden_rows=3,
    latency_s=1.5,
    sql_s=0.1,
    golden_s=0.2,
    tokens_in=10,
    tokens_out=None,
    cost=0.01,
    model="m",
    replayed=True,
    warnings=(Warned("w", "text", "43", Place("items.json", 7)),),
)
PLAIN = CaseResult(CaseKey("b", "sqlite", "shop", 0), "unscored", "d2")
RUN = Run(
    cases=(FULL, PLAIN),
    metrics=("ex", "judge"),
    provenance={"fingerprint": {"model": {"name": "m"}}, "facts": {"odd": math.inf}},
    warnings=(Warned("c", "m"),),
    complete=False,
    verdict={"status": "fail", "reasons": [{"code": "x", "message": "y"}], "rows": []},
)


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    write_run(RUN, tmp_path / "deep" / "run.json")
    again = read_run(tmp_path / "deep" / "run.json")
    assert repr(RUN.cases) == repr(again.cases)
    assert (RUN.metrics, RUN.warnings, RUN.complete) == (again.metrics, again.warnings, again.complete)
    assert again.verdict is not None
    assert again.verdict["status"] == "fail"
    assert run_bytes(again) == run_bytes(replace(RUN, provenance=again.provenance, verdict=again.verdict))


def test_nothing_but_the_file_is_left_behind(tmp_path: Path) -> None:
    write_run(RUN, tmp_path / "run.json")
    write_run(RUN, tmp_path / "run.json")
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_case_has_the_keys_of_the_published_format() -> None:
    case = json.loads(run_bytes(RUN))["cases"][1]
    assert {
        "id",
        "dialect",
        "database",
        "trial",
        "digest",
        "outcome",
        "sql",
        "scores",
        "reason",
        "error",
        "latency_s",
        "tokens",
    } <= case.keys()


def test_one_case_a_line_and_sorted_keys() -> None:
    lines = run_bytes(RUN).decode("utf-8", "replace").splitlines()
    assert sum('"id": ' in line for line in lines) == 2
    top = list(json.loads(run_bytes(RUN)))
    assert sorted(top) == top


def test_a_baseline_holds_no_reply_no_row_and_no_message() -> None:
    text = baseline_bytes(RUN).decode()
    for private in ("half a pair", "1.10", "row 'x'", "too long", "Käufe", "timed out", "SELECT 2"):
        assert private not in text
    again = read_run(text.encode())
    assert again.cases[0].sql == "SELECT 'geheim'"
    assert again.cases[0].scores["ex"] == Score(0.5, Reason("rows_missing", ""), "2")
    assert isinstance(again.cases[0].scores["judge"], ScoreFault)
    assert again.cases[0].error == SqlError("", "22001", "error")
    assert (again.cases[0].latency_s, again.cases[0].tokens_in, again.cases[0].cost) == (1.5, 10, 0.01)


def test_unknown_keys_are_ignored() -> None:
    tree = json.loads(run_bytes(RUN))
    tree["cases"][0]["later"] = tree["later"] = {"x": 1}
    assert len(read_run(json.dumps(tree).encode()).cases) == 2


def test_a_later_minor_is_read() -> None:
    assert read_run(baseline_bytes(RUN).replace(b"baseline/v1", b"baseline/v1.4")).metrics == ("ex", "judge")


def _zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("baseline.json", "{}")
    return stream.getvalue()


def _changed(change: Callable[[Any], None]) -> bytes:
    tree = json.loads(baseline_bytes(RUN))
    change(tree)
    return json.dumps(tree).encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\xef\xbb\xbf \n", "it is empty"),
        (_zip(), "zip archive"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"<!DOCTYPE html><html>Sign in</html>", "HTML page"),
        (b"\n  <html>", "HTML page"),
        (b"<?xml version='1.0'?>", "XML"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1", "Git LFS pointer"),
        (b'{\n<<<<<<< ours\n"a": 1\n=======\n"a": 2\n>>>>>>> theirs\n}', "conflict markers"),
        (b"\x00\x01\x02", "binary"),
        (b"\xff\xfe{", "no UTF-8"),
        (b'{"cases": [', "line 1, column"),
        (b"hello", "not JSON"),
        (b"[]", "a JSON array"),
        (b"null", "a JSON null"),
        (b"{}", "no key `format`"),
        (b'{"format": 1}', "its format is '1'"),
        (b'{"format": "nl2sql-gate/report/v1"}', "report file"),
        (b'{"format": "nl2sql-gate/run/v1", "x": NaN}', "NaN"),
        (b'{"format": "nl2sql-gate/run/v1"}', "cases: Field required"),
        (b"[" * 200_000, "nested too deeply"),
        (_changed(lambda tree: tree["cases"][0].update(id=43)), "cases[0].id: Input should be a valid string"),
        (_changed(lambda tree: tree["cases"][0].update(outcome="great")), "cases[0].outcome"),
        (_changed(lambda tree: tree["cases"][0]["scores"]["ex"].update(value=2)), "less than or equal to 1"),
        (_changed(lambda tree: tree["cases"].append(tree["cases"][0])), "holds the case '43'"),
        (_changed(lambda tree: tree["cases"][0].update(result={"columns": ["a"], "rows": [[{"odd": 1}]]})), "no type of cell"),
    ],
)
def test_what_is_no_baseline_is_refused_with_the_reason(content: bytes, said: str) -> None:
    with pytest.raises(BaselineError) as caught:
        read_run(content, name="evals/baseline.json")
    assert said in str(caught.value)
    assert "evals/baseline.json" in str(caught.value)
    assert caught.value.meaning
    assert caught.value.next_step


def test_a_newer_major_is_named_with_both_versions() -> None:
    with pytest.raises(BaselineError, match="newer release") as caught:
        read_run(b'{"format": "nl2sql-gate/baseline/v2", "cases": {}}')
    assert "nl2sql-gate/baseline/v2, this release reads nl2sql-gate/baseline/v1" in str(caught.value)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(BaselineError, match="cannot be read") as caught:
        read_run(path)
    assert "200 MB" in str(caught.value)


def test_an_absent_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="absent"):
        read_run(tmp_path / "nowhere.json")
    with pytest.raises(BaselineError, match="cannot be read"):
        read_run(tmp_path)


def test_secrets_are_taken_out_without_breaking_the_file(tmp_path: Path) -> None:
    def redact(text: str) -> str:
        return text.replace("geheim", "***").replace("12345678", "***")

    run = replace(RUN, cases=(replace(FULL, tokens_in=12345678),), provenance={"geheim": ["x geheim y"]})
    write_run(run, tmp_path / "run.json", redact=redact)
    write_baseline(run, tmp_path / "baseline.json", redact=redact)
    for name in ("run.json", "baseline.json"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "geheim" not in text
        again = read_run(tmp_path / name)
        assert again.cases[0].sql == "SELECT '***'"
        assert again.cases[0].tokens_in == 12345678
        assert again.provenance == {"***": ["x *** y"]}
    clean = redact_run(run, redact)
    assert "geheim" not in repr(clean)
    assert clean.cases[0].result is not None
    assert clean.cases[0].result.rows[0] == (1, Decimal("1.10"))


def test_driver_types_of_any_kind_give_valid_json() -> None:
    rows = ((Decimal("1.10"), timedelta(hours=26), b"\xde\xad", UUID(int=1), Decimal("NaN"), object()),)
    case = replace(
        PLAIN,
        outcome="answered",
        result=ResultSet(tuple("abcdef"), rows),
        scores={"x": Score(1.0, Reason("a", "b", {"n": math.nan, "d": Decimal(1)}))},
    )
    content = run_bytes(replace(RUN, cases=(case,)))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(content, parse_constant=refuse)
    read_run(content)
