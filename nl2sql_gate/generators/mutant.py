"""The generator that plays a model: it answers with golden SQL, and with errors of its own making in a set share of the cases."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from random import Random
from typing import Any

from nl2sql_gate.dialects import lookup_order
from nl2sql_gate.errors import EndpointFault, SettingsError
from nl2sql_gate.records import Ask, Completion
from nl2sql_gate.settings import Model


class Mutant:
    """Golden SQL mutated in `model.error_rate` of the cases, by `model.seed`; nothing is asked and nothing paid.

    A case errs by a number that seed, item, dialect and trial fix: with one seed, the cases that err at a rate err at every
    higher rate too, as a model grows worse; two seeds are two models that are as good and err elsewhere.

    `replies`, a file that `nl2sql-gate mutate` wrote, makes the rate exact: its mutants were run and differ. Without it, mutants
    are made here, where no database can be asked, and some of them will be right by chance.
    """

    def __init__(self, model: Model, *, replies: str | None) -> None:
        if model.error_rate is None:
            raise SettingsError(
                "the generator 'mutant' needs model.error_rate",
                meaning="No question was asked.",
                next_step="Set model.error_rate, for example 0.1: the share of the cases that it gets wrong.",
            )
        from nl2sql_gate.mutation.kept import read_kept

        self._rate = model.error_rate
        self._seed = model.seed or 0
        self._name = model.name or "mutant"
        self._kept = read_kept(replies) if replies is not None else None

    async def preflight(self) -> None:
        """Nothing to try."""

    async def complete(self, ask: Ask) -> Completion:
        """Golden SQL, or a mutant of it. Raises `EndpointFault` where there is none of either."""
        listed = ask.item.golden_sql.pick(ask.dialect)
        if not listed:
            raise EndpointFault("no golden SQL to answer with", where=[f"id {ask.key.id!r}, dialect {ask.dialect}"])
        # For dml and ddl the list is a sequence; for dql any of it is right.
        golden = listed[0] if ask.item.query_type == "dql" or ask.item.golden_mode == "alternatives" else ";\n".join(listed)
        return Completion(self._mutated(ask, golden) if errs(self._seed, ask, self._rate) else golden, model=self._name)

    async def close(self) -> None:
        """Nothing is held open."""

    def identity(self) -> Mapping[str, Any]:
        """Rate, seed and the mutants' file stand for the model."""
        identity = {"generator": "mutant", "name": self._name, "error_rate": self._rate, "seed": self._seed}
        return identity if self._kept is None else {**identity, "mutants": self._kept.digest}

    def _mutated(self, ask: Ask, golden: str) -> str:
        if self._kept is None:
            found = _made(ask, golden, self._seed)
        else:
            found = self._kept.find(ask.key.id, dict.fromkeys((ask.key.dialect, *lookup_order(ask.dialect))))
        if not found:
            raise EndpointFault(
                "no mutant to answer with",
                where=[f"id {ask.key.id!r}, dialect {ask.dialect}: golden SQL cannot be mutated, or no mutant of it differs"],
            )
        return Random(_text(self._seed, ask, "which")).choice(found)  # noqa: S311 - repeatable, not secret


def errs(seed: int, ask: Ask, rate: float) -> bool:
    """Whether this case is answered wrongly at an error rate: its number in [0, 1) lies below the rate."""
    number = int.from_bytes(sha256(_text(seed, ask, "whether").encode()).digest()[:8], "big") / 2**64
    return number < rate


def _text(seed: int, ask: Ask, purpose: str) -> str:
    return "\n".join((str(seed), purpose, ask.key.id, ask.key.dialect, str(ask.key.trial)))


def _made(ask: Ask, golden: str, seed: int) -> tuple[str, ...]:
    from nl2sql_gate.mutation import Recipe, mutate

    mutations = mutate(golden, ask.dialect, schema=ask.schema, recipe=Recipe(seed=seed))
    return tuple(mutant.sql for mutant in mutations.mutants)
