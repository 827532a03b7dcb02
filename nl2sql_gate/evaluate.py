"""The straight line of a run: goldens first, then every case asked, run and scored as its reply comes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

from nl2sql_gate.errors import DatasetError, EngineFault, Fault
from nl2sql_gate.golden import Golden
from nl2sql_gate.judge import Planned, Rules, judge, preflight, unscored
from nl2sql_gate.prompt import PromptBuilder
from nl2sql_gate.protocols import Generator, Scorer
from nl2sql_gate.records import Ask, CaseResult, Completion, Reason, Schema

Progress = Callable[[CaseResult], None]
GoldenKey = tuple[str, str]
_Slot = tuple[int, int]
MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class Line:
    """What a run needs besides its cases. `schemas` and `dsns` are by target name and database."""

    generator: Generator
    scorers: Sequence[Scorer]
    prompts: PromptBuilder
    schemas: Mapping[tuple[str, str], Schema]
    dsns: Mapping[tuple[str, str], str]
    rules: Rules
    concurrency: int = 8
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """Cases to ask, and whom: the head of a change, or its base beside it."""

    planned: Sequence[Planned]
    line: Line


def run_goldens(planned: Sequence[Planned], rules: Rules, *, executor: Executor) -> dict[GoldenKey, Golden | Fault]:
    """The golden answers of every item in every target, by (item id, target name). Trials share one."""
    distinct = {(case.key.id, case.key.dialect): case for case in planned}
    futures = {key: executor.submit(_preflight, case, rules) for key, case in distinct.items()}
    return {key: future.result() for key, future in futures.items()}


def _preflight(case: Planned, rules: Rules) -> Golden | Fault:
    try:
        return preflight(case, rules)
    except EngineFault as fault:
        return fault


def check_goldens(planned: Sequence[Planned], goldens: Mapping[GoldenKey, Golden | Fault], *, max_errors: float) -> None:
    """Raise `DatasetError` where golden SQL fails too often for scores to mean anything: before a token is spent."""
    distinct = {(case.key.id, case.key.dialect): case for case in planned}
    scorable = {key: found for key, found in goldens.items() if not (isinstance(found, Golden) and found.skip is not None)}
    failed = {key: found for key, found in scorable.items() if isinstance(found, Golden) and found.failure is not None}
    if not failed or (len(failed) < len(scorable) and len(failed) / len(scorable) <= max_errors):
        return
    named = [_golden_line(distinct[key], found) for key, found in failed.items()]
    more = [f"and {len(named) - MAX_NAMED} more"] if len(named) > MAX_NAMED else []
    raise DatasetError(
        f"golden SQL fails for {len(failed)} of {len(scorable)} cases (limit {max_errors:.0%})",
        where=[*named[:MAX_NAMED], *more],
        meaning="No model was called: scores against a failing golden SQL mean nothing.",
        next_step="Fix them, narrow filters, or raise limits.max_golden_errors.",
    )


def _golden_line(case: Planned, golden: Golden) -> str:
    place = f" ({case.item.place})" if str(case.item.place) else ""
    message = golden.failure.message if golden.failure else ""
    return f"{case.key.id} on {case.key.dialect}{place}: {message}"


async def run_cases(
    planned: Sequence[Planned],
    goldens: Mapping[GoldenKey, Golden | Fault],
    line: Line,
    *,
    executor: Executor,
    progress: Progress,
) -> tuple[CaseResult, ...]:
    """Every case with its outcome, in the order of `planned`. Questions are asked `line.concurrency` at a time."""
    (cases,) = await run_sides([Side(planned, line)], goldens, executor=executor, progress=progress)
    return cases


async def run_sides(
    sides: Sequence[Side], goldens: Mapping[GoldenKey, Golden | Fault], *, executor: Executor, progress: Progress
) -> list[tuple[CaseResult, ...]]:
    """The cases of several sides, each in the order of its plan, asked in turn: what drifts meanwhile drifts for all of them.

    Together they have the first side's concurrency and deadline.
    """
    results: dict[_Slot, CaseResult] = {}
    queue: asyncio.Queue[_Slot] = asyncio.Queue()
    for slot in _in_turn(sides):
        case = sides[slot[0]].planned[slot[1]]
        unasked = settled(case, goldens[case.key.id, case.key.dialect])
        if unasked is None:
            queue.put_nowait(slot)
        else:
            results[slot] = unasked
            progress(unasked)
    judging: set[asyncio.Task[None]] = set()

    async def ask() -> None:
        while not queue.empty():
            slot = queue.get_nowait()
            line = sides[slot[0]].line
            case = sides[slot[0]].planned[slot[1]]
            try:
                completion = await line.generator.complete(_ask_of(case, line))
            except Fault as fault:
                results[slot] = unscored(case.result("unscored"), fault)
                progress(results[slot])
                continue
            judged = asyncio.get_running_loop().run_in_executor(
                executor, partial(_judge, case, completion, goldens[case.key.id, case.key.dialect], line)
            )
            task = asyncio.create_task(_collect(judged, slot, results, progress))
            judging.add(task)
            task.add_done_callback(judging.discard)

    first = sides[0].line

    async def everything() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(first.concurrency, queue.qsize())):
                group.create_task(ask())
        while judging:
            await asyncio.gather(*judging)

    remaining = None if first.deadline is None else max(0.0, first.deadline - time.monotonic())
    try:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(everything(), remaining)
    except ExceptionGroup as group:
        # Refused credentials stop the run; the group around them says nothing.
        raise group.exceptions[0] from None
    late = Reason("deadline", "the deadline of the run (limits.run_s) came first")
    return [
        tuple(results.get((at, n)) or replace(case.result("unscored"), reason=late) for n, case in enumerate(side.planned))
        for at, side in enumerate(sides)
    ]


def _in_turn(sides: Sequence[Side]) -> Iterator[_Slot]:
    longest = max((len(side.planned) for side in sides), default=0)
    return ((at, n) for n in range(longest) for at, side in enumerate(sides) if n < len(side.planned))


async def _collect(judged: asyncio.Future[CaseResult], slot: _Slot, results: dict[_Slot, CaseResult], progress: Progress) -> None:
    results[slot] = await judged
    progress(results[slot])


def _judge(case: Planned, completion: Completion, golden: Golden | Fault, line: Line) -> CaseResult:
    if isinstance(golden, Fault):
        return unscored(case.result("unscored"), golden)
    return judge(case, completion, golden, scorers=line.scorers, rules=line.rules)


def settled(case: Planned, golden: Golden | Fault) -> CaseResult | None:
    """The outcome of a case that is not asked, if it is not."""
    if isinstance(golden, Fault):
        return unscored(case.result("unscored"), golden)
    if golden.skip is not None:
        return case.result("skipped", golden.skip)
    if golden.failure is not None:
        return replace(case.result("golden_error", golden.failure), error=golden.error)
    return None


def _ask_of(case: Planned, line: Line) -> Ask:
    place = (case.target.name, case.item.database)
    schema = line.schemas[place]
    prompt = line.prompts.build(case.item, schema, case.target.dialect)
    return Ask(case.key, case.target.dialect, case.item, prompt, schema, line.dsns.get(place, ""))
