"""Rows of `honey_market`: what the cooperative sells, to whom, at which price, and who stood at the stall."""

# ruff: noqa: PLR2004 (numbers that shape made-up data)

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from bundled_dataset import honey_market_edges as edges
from bundled_dataset.bee_yards_edges import replaced
from bundled_dataset.draws import between, chance, day_between, pick, weighted
from bundled_dataset.literals import Cell

Rows = list[tuple[Cell, ...]]

CITIES = [("Saltby", 7), ("Thornwick", 6), ("Kirkmoor", 4), ("Köln", 2), ("Århus", 2), ("Harrow End", 2), (None, 4)]
KINDS = [("private", 8), ("shop", 3), ("restaurant", 2)]
STATUSES = [("shipped", 9), ("paid", 5), ("open", 2), ("cancelled", 3)]
CHANNELS = [("stall", 7), ("web", 6), ("phone", 2)]
BUYERS = 49  # the customers after them have orders written by hand, or none
FIRST_PASSERS_BY = date(2023, 3, 4)
REASONS = [("leaking lid", 3), ("wrong jar", 2), ("crystallised", 3), ("changed mind", 1), (None, 2)]
HOSTS = [
    ("post.example", 6),
    ("Post.example", 2),
    ("koop.example", 4),
    ("KOOP.example", 2),
    ("saltby.example", 3),
    ("mail.example", 2),
]
STALLS = ["Saltby market", "Thornwick fair", "Kirkmoor station"]


def tables() -> dict[str, Rows]:
    """All tables, parents first."""
    prices = _price_changes()
    orders = _orders()
    lines = _order_lines(orders, prices)
    return {
        "products": _products(prices),
        "price_changes": prices,
        "customers": _customers(),
        "orders": orders,
        "order_lines": lines,
        "returns": _returns(orders, lines),
        "stall_shifts": _stall_shifts(),
    }


def _products(prices: Rows) -> Rows:
    return [
        (number, sku, name, category, grams, _price_on(prices, number, date(2024, 12, 31)), discontinued)
        for number, sku, name, category, grams, _, discontinued in edges.PRODUCTS
    ]


def _price_changes() -> Rows:
    rows: Rows = []
    for number, _, _, _, _, cents, _ in edges.PRODUCTS:
        price = cents
        rows.append((number, edges.LAUNCHED.get(number, date(2022, 1, 1)), Decimal(price).scaleb(-2)))
        if number in edges.LAUNCHED:
            continue
        for year in (2023, 2024):
            if chance(0.7, "price changed", number, year):
                price += between(-3, 12, "price step", number, year) * 5 or 10
                rows.append(
                    (
                        number,
                        day_between(date(year, 1, 2), date(year, 11, 30), "price day", number, year),
                        Decimal(price).scaleb(-2),
                    )
                )
    return sorted([*rows, *edges.PRICE_CHANGES], key=lambda row: (int(str(row[0])), str(row[1])))


def _price_on(prices: Rows, product: int, day: date) -> Decimal:
    valid = [price for number, start, price in prices if number == product and isinstance(start, date) and start <= day]
    return Decimal(str(valid[-1]))


def _customers() -> Rows:
    rows: Rows = []
    for number, name in enumerate(edges.CUSTOMER_NAMES, start=1):
        host = weighted(HOSTS, "host", number)
        email = None if chance(0.3, "no mail", number) else f"customer{number:02d}@{host}"
        referrer = between(1, number - 1, "referrer", number) if number > 5 and chance(0.35, "referred", number) else None
        rows.append((number, name, weighted(KINDS, "kind", number), weighted(CITIES, "city", number), email, referrer))
    return replaced(rows, edges.CUSTOMERS)


def _orders() -> Rows:
    rows: Rows = []
    for number in range(1, 321):
        channel = weighted(CHANNELS, "channel", number)
        customer = min(between(1, BUYERS, "customer", number), between(1, BUYERS, "customer too", number))
        day = day_between(date(2022, 10, 1), date(2024, 11, 30), "order day", number)
        if channel == "stall" and day >= FIRST_PASSERS_BY and chance(0.4, "walk-in", number):
            customer = None
        at = datetime.combine(
            day,
            time(
                between(8, 20, "order hour", number),
                between(0, 59, "order minute", number),
                between(0, 59, "order second", number),
            ),
        )
        discount = Decimal(pick([25, 50, 100, 150], "discount", number)).scaleb(-1) if chance(0.3, "discounted", number) else None
        status = weighted(STATUSES, "status", number)
        rows.append((number, customer, at, status, channel, discount))
    return replaced(rows, edges.ORDERS)


def _order_lines(orders: Rows, prices: Rows) -> Rows:
    rows: Rows = []
    by_hand = {(row[0], row[1]) for row in edges.ORDER_LINES}
    for order, _, at, _, _, _ in orders:
        number = int(str(order))
        day = datetime.fromisoformat(str(at)).date()
        wanted = 0 if chance(0.03, "no lines", number) else weighted([(1, 5), (2, 5), (3, 4), (4, 2)], "lines", number)
        seen: set[int] = set()
        for line in range(1, wanted + 1):
            product = min(between(1, 20, "product", number, line), between(1, 22, "product too", number, line))
            if product in seen or (number, line) in by_hand or number in edges.WHOLLY_BY_HAND:
                continue
            seen.add(product)
            price = _price_on(prices, product, day)
            if chance(0.08, "off list", number, line):
                price += Decimal(pick([-100, -50, 50], "off by", number, line)).scaleb(-2)
            quantity = weighted([(1, 8), (2, 5), (3, 3), (6, 2), (12, 1)], "quantity", number, line)
            rows.append((number, line, product, quantity, price))
    return sorted([*rows, *edges.ORDER_LINES], key=lambda row: (int(str(row[0])), int(str(row[1]))))


def _returns(orders: Rows, lines: Rows) -> Rows:
    placed = {order: datetime.fromisoformat(str(at)).date() for order, _, at, status, _, _ in orders if status == "shipped"}
    rows: Rows = []
    for order, line, _, quantity, _ in lines:
        if order in placed and chance(0.1, "returned", str(order), str(line)):
            back = placed[order] + timedelta(days=between(1, 40, "back after", str(order), str(line)))
            count = between(1, int(str(quantity)), "back", str(order), str(line))
            rows.append((len(rows) + 1, order, line, back, count, weighted(REASONS, "reason", str(order), str(line))))
    return replaced(rows, edges.RETURNS)


def _stall_shifts() -> Rows:
    rows: Rows = []
    helpers: Sequence[str] = edges.HELPERS
    for number in range(1, 61):
        day = day_between(date(2024, 1, 6), date(2024, 11, 30), "shift day", number)
        start = datetime.combine(day, time(between(6, 15, "shift hour", number), pick([0, 15, 30, 45], "shift minute", number)))
        ended = (
            None if chance(0.06, "shift open", number) else start + timedelta(minutes=15 * between(8, 32, "shift length", number))
        )
        helper = helpers[min(between(0, len(helpers) - 2, "helper", number), between(0, len(helpers) - 2, "helper too", number))]
        rows.append((number, helper, pick(STALLS, "stall", number), start, ended))
    return replaced(rows, edges.STALL_SHIFTS)
