"""The straight line of a run: goldens first, then every case asked, run and scored as its reply comes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
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
    results: dict[int, CaseResult] = {}
    queue: asyncio.Queue[int] = asyncio.Queue()
    for index, case in enumerate(planned):
        settled = _settled(case, goldens[case.key.id, case.key.dialect])
        if settled is None:
            queue.put_nowait(index)
        else:
            results[index] = settled
            progress(settled)
    judging: set[asyncio.Task[None]] = set()

    async def ask() -> None:
        while not queue.empty():
            index = queue.get_nowait()
            case = planned[index]
            try:
                completion = await line.generator.complete(_ask_of(case, line))
            except Fault as fault:
                results[index] = unscored(case.result("unscored"), fault)
                progress(results[index])
                continue
            judged = asyncio.get_running_loop().run_in_executor(
                executor, partial(_judge, case, completion, goldens[case.key.id, case.key.dialect], line)
            )
            task = asyncio.create_task(_collect(judged, index, results, progress))
            judging.add(task)
            task.add_done_callback(judging.discard)

    async def everything() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(line.concurrency, queue.qsize())):
                group.create_task(ask())
        while judging:
            await asyncio.gather(*judging)

    remaining = None if line.deadline is None else max(0.0, line.deadline - time.monotonic())
    try:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(everything(), remaining)
    except ExceptionGroup as group:
        # Refused credentials stop the run; the group around them says nothing.
        raise group.exceptions[0] from None
    late = Reason("deadline", "the deadline of the run (limits.run_s) came first")
    return tuple(results.get(index) or replace(case.result("unscored"), reason=late) for index, case in enumerate(planned))


async def _collect(judged: asyncio.Future[CaseResult], index: int, results: dict[int, CaseResult], progress: Progress) -> None:
    results[index] = await judged
    progress(results[index])


def _judge(case: Planned, completion: Completion, golden: Golden | Fault, line: Line) -> CaseResult:
    if isinstance(golden, Fault):
        return unscored(case.result("unscored"), golden)
    return judge(case, completion, golden, scorers=line.scorers, rules=line.rules)


def _settled(case: Planned, golden: Golden | Fault) -> CaseResult | None:
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
