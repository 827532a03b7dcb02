"""Mutants of one golden query: which errors fit where, one site of each by seed, several errors in one query.

The same text, dialect, schema, recipe and seed give the same mutants, on any machine and whatever else is mutated beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from sqlglot.errors import SqlglotError

from nl2sql_gate.dialects import sqlglot_name
from nl2sql_gate.errors import SettingsError
from nl2sql_gate.mutation.catalogue import Catalogue, catalogue_of
from nl2sql_gate.mutation.conflicts import fits
from nl2sql_gate.mutation.operator import Operator
from nl2sql_gate.mutation.operators import BY_NAME, OPERATORS
from nl2sql_gate.mutation.query import Query
from nl2sql_gate.mutation.reading import read_trees
from nl2sql_gate.mutation.rendering import rendered
from nl2sql_gate.mutation.site import Site, applied
from nl2sql_gate.records import Schema
from nl2sql_gate.sqltext.parse import Tree
from nl2sql_gate.sqltext.split import split_statements

_FAILURES = (SqlglotError, RecursionError, ValueError, AttributeError, TypeError, KeyError, IndexError)
"""What a tree of SQL that nobody vouches for raises in sqlglot's code; then there is no mutant."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Which mutants are wanted.

    `sites` is how many places of one operator are taken, chosen by seed (`None`: all). `depth` is the largest number of errors in
    one mutant. `operators` are names; all where empty. `most` limits the mutants of one golden query, drawn by seed.
    """

    seed: int = 0
    depth: int = 1
    sites: int | None = 1
    operators: tuple[str, ...] = ()
    most: int | None = None

    def chosen(self) -> tuple[Operator, ...]:
        """The operators, in registry order. Raises `SettingsError` for a name that there is not."""
        if not self.operators:
            return OPERATORS
        for name in self.operators:
            _known(name)
        return tuple(operator for operator in OPERATORS if operator.name in self.operators)


@dataclass(frozen=True, slots=True)
class Mutant:
    """Golden SQL with errors: which operators, in the order of their application, and what each changed, in words."""

    sql: str
    operators: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def depth(self) -> int:
        """The number of errors."""
        return len(self.operators)


@dataclass(frozen=True, slots=True)
class Mutations:
    """The mutants of one query, distinct in their text, shallow ones first.

    `rendered` is the query itself as the mutants are written: where it does not mean what the query means, no mutant can be
    trusted. `understood` is false where no grammar covers the query; then there are no mutants.
    """

    sql: str
    rendered: str
    mutants: tuple[Mutant, ...] = ()
    understood: bool = True


def mutate(sql: str, dialect: str, *, schema: Schema | None = None, recipe: Recipe = Recipe()) -> Mutations:
    """The mutants of `sql` by `recipe`. With `schema`, columns are taken for others of their table and kind."""
    catalogue = catalogue_of(schema)
    script = _Script.read(sql, dialect, catalogue)
    if script is None:
        return Mutations(sql, "", understood=False)
    try:
        whole = script.text()
    except _FAILURES:
        return Mutations(sql, "", understood=False)
    seen = {whole, sql.strip().rstrip(";")}
    found: list[Mutant] = []
    level = [(Mutant(whole, (), ()), script)]
    for depth in range(recipe.depth):
        fresh: list[Mutant] = []
        for mutant in _next_level(level, recipe, sql):
            if mutant.sql not in seen:
                seen.add(mutant.sql)
                fresh.append(mutant)
                if depth and len(fresh) == recipe.most:
                    break
        fresh = _drawn(fresh, recipe, sql)
        found += fresh
        read = ((mutant, _Script.read(mutant.sql, dialect, catalogue)) for mutant in fresh if depth + 1 < recipe.depth)
        level = [(mutant, parsed) for mutant, parsed in read if parsed is not None]
    return Mutations(sql, whole, tuple(_drawn(found, recipe, sql)))


def _next_level(level: Sequence[tuple[Mutant, _Script]], recipe: Recipe, sql: str) -> Iterator[Mutant]:
    """The mutants with one error more; where not all are wanted, in a drawn order, so that the first are as good as any."""
    if recipe.most is None or len(level) == 1:
        for parent, script in level:
            yield from _children(script, parent, recipe, recipe.chosen())
        return
    draw = Random(f"{recipe.seed}\nlevel\n{sql}")  # noqa: S311 - repeatable, not secret
    pairs = [(at, operator) for at in range(len(level)) for operator in recipe.chosen()]
    draw.shuffle(pairs)
    for at, operator in pairs:
        parent, script = level[at]
        yield from _children(script, parent, recipe, (operator,))


def mutate_in_turn(
    sql: str, dialect: str, names: Sequence[str], *, schema: Schema | None = None, recipe: Recipe = Recipe()
) -> Mutant | None:
    """One mutant with the errors `names` in this order, or nothing where one of them does not apply.

    Raises `SettingsError` for names that there are not, and for operators that conflict.
    """
    for position, name in enumerate(names):
        _known(name)
        if not fits(tuple(names[:position]), name):
            raise SettingsError(
                f"{name} cannot follow {', '.join(names[:position])}",
                meaning="One error would undo or hide another.",
                next_step="Name operators that do not conflict; docs/mutation.md lists the conflicts.",
            )
    catalogue = catalogue_of(schema)
    mutant = Mutant(sql, (), ())
    for name in names:
        script = _Script.read(mutant.sql, dialect, catalogue)
        single = Recipe(recipe.seed, operators=(name,))
        found = next(_children(script, mutant, single, single.chosen()), None) if script is not None else None
        if found is None:
            return None
        mutant = found
    return mutant


class _Script:
    """The statements of one golden text, parsed; only the statement that is mutated is written anew."""

    def __init__(self, texts: list[str], trees: list[Tree], *, dialect: str, catalogue: Catalogue) -> None:
        self.sql = ";\n".join(texts)
        self._texts = texts
        self.dialect = sqlglot_name(dialect)
        self.queries = [Query(tree, dialect=self.dialect, catalogue=catalogue) for tree in trees]

    @classmethod
    def read(cls, sql: str, dialect: str, catalogue: Catalogue) -> _Script | None:
        """The script, or nothing where a statement is not understood."""
        texts: list[str] = []
        trees: list[Tree] = []
        for statement in split_statements(sql, dialect):
            parsed = read_trees(statement.text, dialect)
            if parsed is None:
                return None
            trees += parsed
            texts += [statement.text.strip()] if len(parsed) == 1 else [rendered(tree, sqlglot_name(dialect)) for tree in parsed]
        return cls(texts, trees, dialect=dialect, catalogue=catalogue) if trees else None

    def text(self, number: int | None = None, tree: Tree | None = None) -> str:
        """All statements; the one of `number` written anew, from `tree` where it was replaced, or all of them anew."""
        parts = [
            rendered(tree if tree is not None and at == number else query.tree, self.dialect)
            if number is None or at == number
            else self._texts[at]
            for at, query in enumerate(self.queries)
        ]
        return ";\n".join(parts)


def _children(script: _Script, parent: Mutant, recipe: Recipe, operators: Sequence[Operator]) -> Iterator[Mutant]:
    """The mutants with one error more than `parent`, by one of `operators`."""
    for operator in operators:
        if not fits(parent.operators, operator.name):
            continue
        # The text is part of the seed, so that a query's mutants do not depend on what else is in the dataset.
        draw = Random(f"{recipe.seed}\n{operator.name}\n{script.sql}")  # noqa: S311 - repeatable, not secret
        for number, site in _sites(script, operator, draw, recipe.sites):
            try:
                words = site.words(script.dialect)
                with applied(site.changes):
                    text = script.text(number, site.root)
            except _FAILURES:
                continue
            yield Mutant(text, (*parent.operators, operator.name), (*parent.changes, words))


def _sites(script: _Script, operator: Operator, draw: Random, most: int | None) -> list[tuple[int, Site]]:
    found: list[tuple[int, Site]] = []
    for number, query in enumerate(script.queries):
        query.draw = draw
        try:
            found += [(number, site) for site in operator.sites(query)]
        except _FAILURES:
            continue
    if most is None or len(found) <= most:
        return found
    return [found[position] for position in sorted(draw.sample(range(len(found)), most))]


def _drawn(mutants: list[Mutant], recipe: Recipe, sql: str) -> list[Mutant]:
    if recipe.most is None or len(mutants) <= recipe.most:
        return mutants
    draw = Random(f"{recipe.seed}\nmost\n{sql}")  # noqa: S311 - repeatable, not secret
    return [mutants[position] for position in sorted(draw.sample(range(len(mutants)), recipe.most))]


def _known(name: str) -> None:
    if name not in BY_NAME:
        import difflib

        near = difflib.get_close_matches(name, BY_NAME, n=1)
        raise SettingsError(
            f"there is no error operator {name!r}",
            meaning="Nothing was mutated.",
            next_step=f"Did you mean {near[0]!r}?" if near else "nl2sql-gate mutate --list names them all.",
        )
