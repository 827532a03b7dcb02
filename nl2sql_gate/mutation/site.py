"""One place in a statement where an error can be put, as changes that can be taken back: trees are never copied as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from nl2sql_gate.mutation.rendering import rendered
from nl2sql_gate.sqltext.parse import Tree

MOST_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Change:
    """One argument of one node and the value that it gets; `None` removes it. Without a node the statement becomes the value."""

    node: Tree | None
    arg: str
    value: Any


@dataclass(frozen=True, slots=True)
class Site:
    """What one application of an operator changes. `before` and `after` are nodes or words, for people."""

    changes: tuple[Change, ...]
    before: Tree | str = ""
    after: Tree | str = ""

    def words(self, dialect: str) -> str:
        """`x >= 5 → x > 5`, or one side alone where something is lost or added."""
        before, after = _shown(self.before, dialect), _shown(self.after, dialect)
        if before and after:
            return f"{before} → {after}"
        return f"without {before}" if before else f"with {after}"

    @property
    def root(self) -> Tree | None:
        """The statement that takes the place of the whole one, if one does."""
        return next((change.value for change in self.changes if change.node is None), None)


def swap(node: Tree, new: Tree) -> Change:
    """The change that puts `new` where `node` stands."""
    parent = node.parent
    if parent is None:
        return Change(None, "", new)
    siblings = parent.args.get(node.arg_key)
    if isinstance(siblings, list):
        return Change(parent, node.arg_key, [new if each is node else each for each in siblings])
    return Change(parent, node.arg_key, new)


def without(node: Tree) -> Change:
    """The change that takes `node` out of the list that it stands in, or removes the argument that it is."""
    siblings = node.parent.args.get(node.arg_key)
    if isinstance(siblings, list):
        return Change(node.parent, node.arg_key, [each for each in siblings if each is not node])
    return Change(node.parent, node.arg_key, None)


def replaced(node: Tree, new: Tree) -> Site:
    """A site that puts `new` where `node` stands and shows both."""
    return Site((swap(node, new),), node, new)


def removed(node: Tree) -> Site:
    """A site that takes `node` away."""
    return Site((without(node),), node)


@contextmanager
def applied(changes: Sequence[Change]) -> Iterator[None]:
    """The tree with `changes` made, as it was before afterwards."""
    kept = [(change.node, change.arg, change.node.args.get(change.arg)) for change in changes if change.node is not None]
    try:
        for change in changes:
            if change.node is not None:
                change.node.set(change.arg, change.value)
        yield
    finally:
        for node, arg, value in reversed(kept):
            node.set(arg, value)


def _shown(part: Tree | str, dialect: str) -> str:
    text = part if isinstance(part, str) else rendered(part, dialect)
    text = " ".join(text.split())
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"
