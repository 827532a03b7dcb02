"""What a report says of one comparison stands together: no sentence of it denies another."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from reports import case

from nl2sql_gate.compare import pair
from nl2sql_gate.records import CaseResult, Run
from nl2sql_gate.reporters.markdown import COMMENT_LEVELS, MarkdownReporter
from nl2sql_gate.reporters.report import Report
from nl2sql_gate.reporters.terminal import TerminalReporter
from nl2sql_gate.reporters.wording import primary_row
from nl2sql_gate.settings import Policy, Slices
from nl2sql_gate.verdict import Evidence, decide

MakeCase = Callable[..., CaseResult]
SIZES = range(1, 61)
METRIC = "execution_accuracy"

PROVEN = re.compile(r"the drop of [\d.]+ points? is proven|a proven drop of|worse by more than")
UNPROVEN = re.compile(r"that is not proven|not proven to be within|no worse by")
BLIND = re.compile(r"no drop (at all )?could (be|have been) proven", re.IGNORECASE)
COULD = re.compile(r"could prove a drop of ([\d.]+) points?|drop of ([\d.]+) points? could have been proven", re.IGNORECASE)
NO_DROP = re.compile(r"no drop of ([\d.]+) points? or more", re.IGNORECASE)
FELL = re.compile(r"fell ([\d.]+) points?|[dD]rop of ([\d.]+) points? that is not proven")


def contradictions(text: str) -> Iterator[str]:
    """Pairs of sentences in `text` of which only one can be true."""
    if PROVEN.search(text):
        if UNPROVEN.search(text):
            yield "proven and not proven"
        if BLIND.search(text):
            yield "proven, and nothing could have been"
        if COULD.search(text):
            yield "proven, and what could have been is told"
        if NO_DROP.search(text):
            yield "proven, and no drop"
    fallen = {float(found) for groups in FELL.findall(text) for found in groups if found}
    limits = {float(found) for found in NO_DROP.findall(text)}
    if any(drop >= limit for drop in fallen for limit in limits):
        yield f"fell {fallen}, and no drop of {limits}"
    provable = {float(found) for groups in COULD.findall(text) for found in groups if found}
    if UNPROVEN.search(text) and any(drop >= least for drop in fallen for least in provable):
        yield f"fell {fallen} unproven, where {provable} could be proven"
    if len(provable) > 1:
        yield f"two different drops could be proven: {provable}"
    if BLIND.search(text) and provable:
        yield "nothing could be proven, and something could"


@pytest.mark.parametrize(
    "text",
    [
        "the drop of 100.0 points is proven: 12 broke. On so few items no drop at all could have been proven",
        "the drop of 6.7 points is proven: 4 broke. A drop of 9.1 points could have been proven",
        "a drop of 10.0 points that is not proven: 10 broke, 4 fixed; could prove a drop of 9.1 points",
        "execution accuracy fell 2.0 points. no drop of 2.0 points or more: 1 broke",
        "worse by more than 2.0 points: 2 broke; no drop at all could be proven on so few items",
    ],
)
def test_these_are_contradictions(text: str) -> None:
    assert list(contradictions(text))


def told(report: Report) -> str:
    """The comment and the terminal's text, each on as few lines as it has sentences."""
    texts = (MarkdownReporter(60_000, COMMENT_LEVELS).render(report), TerminalReporter(width=2000).render(report))
    return "\n".join(texts)


@pytest.fixture(scope="module")
def cases() -> dict[tuple[int, int], CaseResult]:
    """The cases of all sizes by number and value, built once; without latency and tokens, whose bootstrap takes most of the time."""
    plain = {"latency_s": None, "tokens_in": None, "tokens_out": None}
    return {(number, value): case(f"q{number:02}", value, **plain) for number in SIZES for value in (0, 1)}


def compared(cases: dict[tuple[int, int], CaseResult], *, n: int, broke: int, fixed: int = 0) -> tuple[Run, Run]:
    """Head and baseline of `n` items: the first `broke` of them broke, the last `fixed` were fixed, the others pass."""
    head = [cases[number + 1, int(number >= broke)] for number in range(n)]
    old = [cases[number + 1, int(number < n - fixed)] for number in range(n)]
    provenance = {"fingerprint": {"prompt": {"digest": "p"}}}
    return Run(tuple(head), (METRIC,), provenance), Run(tuple(old), (METRIC,), provenance)


def reported(runs: tuple[Run, Run], policy: Policy, *, churn: float | None = None) -> Report:
    """The report on them, decided by the product."""
    comparison = pair(*runs)
    verdict = decide(comparison, runs[0], policy, evidence=Evidence(churn=churn))
    return Report(head=runs[0], verdict=verdict, comparison=comparison, baseline=runs[1])


@pytest.mark.parametrize("n", SIZES)
def test_no_number_of_broken_items_makes_a_report_deny_itself(cases: dict[tuple[int, int], CaseResult], n: int) -> None:
    found = {}
    # The verdict turns within the first ten; beyond them every seventh is enough.
    for broke in sorted({*range(min(n, 10) + 1), *range(10, n, 7), n - 1, n}):
        text = told(reported(compared(cases, n=n, broke=broke), Policy()))
        found[broke] = list(contradictions(text))
    assert {broke: said for broke, said in found.items() if said} == {}


@pytest.mark.parametrize("mode", ["regression", "non_inferiority"])
@pytest.mark.parametrize("churn", [None, 0.0, 0.3])
def test_nor_do_fixed_items_a_calibration_or_another_mode(
    cases: dict[tuple[int, int], CaseResult], mode: str, churn: float | None
) -> None:
    found = {}
    for n in (1, 4, 8, 30, 51):
        for broke in sorted({0, 1, 3, 5, 7, n // 2, n - 1, n} & set(range(n + 1))):
            for fixed in sorted({1, 3, 8, n - broke} & set(range(n - broke + 1))):
                policy = Policy.model_validate({"mode": mode})
                text = told(reported(compared(cases, n=n, broke=broke, fixed=fixed), policy, churn=churn))
                found[n, broke, fixed] = list(contradictions(text))
    assert {at: said for at, said in found.items() if said} == {}


@pytest.mark.parametrize("trials", [2, 3])
def test_nor_do_several_trials_of_each_item(trials: int) -> None:
    plain = {"latency_s": None, "tokens_in": None, "tokens_out": None}
    provenance = {"fingerprint": {"prompt": {"digest": "p"}}}
    found = {}
    for n in (1, 3, 4, 6, 20):
        made = {(i, t, v): case(f"q{i:02}", v, trial=t, **plain) for i in range(n) for t in range(trials) for v in (0, 1)}
        every = [(i, t) for i in range(n) for t in range(trials)]
        for broke in sorted({0, 1, 3, 5, n} & set(range(n + 1))):
            for lost in range(1, trials + 1):
                head = Run(tuple(made[i, t, int(not (i < broke and t < lost))] for i, t in every), (METRIC,), provenance)
                old = Run(
                    tuple(made[i, t, int(not (i == n - 1 and t == 0 and broke < n))] for i, t in every), (METRIC,), provenance
                )
                found[n, broke, lost] = list(contradictions(told(reported((head, old), Policy()))))
    assert {at: said for at, said in found.items() if said} == {}


def test_twelve_of_twelve_broken_is_proven_and_nothing_else(cases: dict[tuple[int, int], CaseResult]) -> None:
    report = reported(compared(cases, n=12, broke=12), Policy())
    text = told(report)
    assert "the drop of 100.0 points is proven: 12 broke, 0 fixed of 12 items" in text
    assert not BLIND.search(text)
    assert not COULD.search(text)


def test_a_drop_just_under_the_margin_is_not_printed_as_the_margin(cases: dict[tuple[int, int], CaseResult]) -> None:
    """1 of 51 is 1.96 points: 2.0 in one decimal, and less than `min_drop`."""
    text = told(reported(compared(cases, n=51, broke=1), Policy()))
    assert "execution accuracy fell 1.96 points" in text
    assert "no drop of 2.0 points or more" in text


def test_churn_is_what_went_both_ways_and_not_the_drop_itself(cases: dict[tuple[int, int], CaseResult]) -> None:
    row = primary_row(reported(compared(cases, n=60, broke=5, fixed=2), Policy()))
    assert row is not None
    assert row.churn == pytest.approx(4 / 60)


def test_a_slice_that_fell_is_told_like_the_whole(cases: dict[tuple[int, int], CaseResult]) -> None:
    rules = Slices.model_validate({"min_items": 1, "rules": [{"by": "difficulty", "value": "easy"}]})
    for mode in ("regression", "non_inferiority"):
        policy = Policy.model_validate({"mode": mode, "slices": rules.model_dump()})
        for broke in range(13):
            text = told(reported(compared(cases, n=12, broke=broke), policy))
            assert list(contradictions(text)) == [], (mode, broke)


def test_a_comment_says_the_p_of_the_whole_beside_the_same_p_of_a_slice(cases: dict[tuple[int, int], CaseResult]) -> None:
    """What a reason says already is not said again; another reason's figures are no reason to leave these out."""
    policy = Policy.model_validate(
        {
            "floors": {METRIC: 0.99},
            "slices": {"min_items": 1, "rules": [{"by": "difficulty", "value": "easy", "min_drop": 0.001}]},
        }
    )
    text = MarkdownReporter(60_000, COMMENT_LEVELS).render(reported(compared(cases, n=60, broke=1), policy))
    assert (
        "> - difficulty easy: a drop of 1.7 points that is not proven: 1 broke, 0 fixed of 60 items, p = 0.250 adjusted" in text
    )
    assert "> - EX strict floor: 98.3 % (59/60) is below 99.0 %" in text
    assert "> 1 broke, 0 fixed of 60 items; p = 0.250; 90 % interval" in text
