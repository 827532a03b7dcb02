"""The pairing of greatest total weight where few pairs have any weight; exact, and without a numerical library."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

Pairs = list[tuple[int, int, int]]


def best_pairs(weights: Sequence[Mapping[int, int]]) -> Pairs:
    """Pairs (row, column, weight), each row and column at most once, whose weights have the greatest sum.

    `weights` holds for each row its columns of positive weight. The primal-dual method of Kuhn and Munkres with shortest paths
    by reduced cost; a row may stay alone at weight 0.
    """
    prices = [max(row.values(), default=0) for row in weights]
    column_prices: dict[int, int] = {}
    partner_of_column: dict[int, int] = {}
    partner_of_row: dict[int, int] = {}
    for row, columns in enumerate(weights):
        # Most rows find a free column at their best weight; only the others need a search.
        for column, weight in columns.items():
            if weight == prices[row] and column not in partner_of_column:
                partner_of_column[column], partner_of_row[row] = row, column
                break
        else:
            if columns:
                _augment(row, weights, (prices, column_prices), (partner_of_row, partner_of_column))
    return [(row, column, weights[row][column]) for row, column in sorted(partner_of_row.items())]


class _Tree:
    """Rows and columns reached from one row along pairs, nearest first; distances are in lost weight."""

    def __init__(self, start: int) -> None:
        self.rows = {start: 0}
        self.columns: dict[int, int] = {}
        self.came_from: dict[int, int] = {}
        self.heap: list[tuple[int, int]] = []

    def reach(self, column: int, *, far: int, row: int) -> None:
        """Note a way to `column`, if it is the shortest so far."""
        if far < self.columns.get(column, far + 1):
            self.columns[column] = far
            self.came_from[column] = row
            heapq.heappush(self.heap, (far, column))

    def nearest(self, owners: Mapping[int, int]) -> tuple[int, int] | None:
        """The nearest column whose owner is not in the tree yet."""
        while self.heap:
            far, column = heapq.heappop(self.heap)
            if far == self.columns[column] and owners.get(column) not in self.rows:
                return far, column
        return None


def _augment(
    start: int,
    weights: Sequence[Mapping[int, int]],
    duals: tuple[list[int], dict[int, int]],
    partners: tuple[dict[int, int], dict[int, int]],
) -> None:
    """Give row `start` a column, or leave one row of its tree alone, whichever loses less."""
    prices, column_prices = duals
    partner_of_row, owners = partners
    tree = _Tree(start)
    # Ending at a row means that this row gives up its column and stays alone.
    end_row, end_column, shortest = start, -1, prices[start]
    row = start
    while True:
        base = tree.rows[row] + prices[row]
        for column, weight in weights[row].items():
            far = base + column_prices.get(column, 0) - weight
            if far < shortest:
                tree.reach(column, far=far, row=row)
        found = tree.nearest(owners)
        if found is None or found[0] >= shortest:
            break
        far, column = found
        if column not in owners:
            end_row, end_column, shortest = -1, column, far
            break
        row = owners[column]
        tree.rows[row] = far
        if far + prices[row] < shortest:
            end_row, end_column, shortest = row, -1, far + prices[row]
    _reprice(tree, duals, owners, shortest)
    column = end_column if end_column >= 0 else partner_of_row.pop(end_row, -1)
    while column >= 0:
        row = tree.came_from[column]
        owners[column] = row
        column, partner_of_row[row] = partner_of_row.get(row, -1), column


def _reprice(tree: _Tree, duals: tuple[list[int], dict[int, int]], owners: Mapping[int, int], shortest: int) -> None:
    prices, column_prices = duals
    for row, far in tree.rows.items():
        if far < shortest:
            prices[row] -= shortest - far
    for column, far in tree.columns.items():
        if far < shortest and owners.get(column) in tree.rows:
            column_prices[column] = column_prices.get(column, 0) + shortest - far
