"""Rows of `honey_market` written by hand: the range, names that questions use, month ends, near misses."""

# ruff: noqa: DTZ001 (clock times in the data have no zone)

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from bundled_dataset.literals import Cell

Row = tuple[Cell, ...]

PRODUCTS: tuple[tuple[int, str, str, str, int | None, int, bool], ...] = (
    # The price is the one of January 2022, in hundredths; products.csv has the latest.
    (1, "H-LIN-250", "Linden honey, small", "honey", 250, 520, False),
    (2, "H-LIN-500", "Linden honey", "honey", 500, 890, False),
    (3, "H-HEA-250", "Heather honey, small", "honey", 250, 640, False),
    (4, "H-HEA-500", "Heather honey", "honey", 500, 1150, False),
    (5, "H-BLO-500", "Blossom honey", "honey", 500, 790, False),
    (6, "H-FOR-500", "Forest honey", "honey", 500, 860, False),
    (7, "H-SAL-250", "Salt marsh honey", "honey", 250, 780, True),
    (8, "H-CMB-300", "Comb in honey", "honey", 300, 1320, False),
    (9, "C-PIL-L", "Pillar candle, large", "candle", None, 1490, False),
    (10, "C-PIL-S", "Pillar candle, small", "candle", None, 745, False),
    (11, "C-TEA-06", "Tea lights, six", "candle", None, 390, False),
    (12, "C-TAP-02", "Taper pair", "candle", None, 680, True),
    (13, "C-FIG-BEAR", "Figure candle 'Bear'", "candle", None, 920, False),
    (14, "W-LIP-10", "Lip balm", "cosmetic", None, 360, False),
    (15, "W-CRM-50", "Beeswax cream", "cosmetic", None, 840, False),
    (16, "W-SOA-90", "Honey soap", "cosmetic", None, 490, False),
    (17, "W-POL-200", "Furniture polish", "household", None, 970, False),
    (18, "W-BLK-100", "Wax block", "household", None, 450, False),
    (19, "M-DRY-75", "Dry mead", "mead", None, 1390, False),
    (20, "M-SWE-75", "Sweet mead", "mead", None, 1390, False),
    (21, "M-HEA-75", "Heather mead", "mead", None, 1650, True),
    (22, "G-DIP-01", "Honey dipper", "household", None, 310, False),
    (23, "G-BAG-01", "Cotton bag", "household", None, 560, False),
    (24, "H-ACA-250", "Acacia honey, small", "honey", 250, 610, True),
    (25, "M-CYS-75", "Cyser", "mead", None, 1520, False),
    (26, "G-BOX-01", "Gift box 'Meadow'", "gift", None, 2400, False),
    (27, "C-ANN-25", "Anniversary candle", "candle", None, 2900, True),
)
LAUNCHED: dict[int, date] = {25: date(2024, 5, 1)}

PRICE_CHANGES: tuple[Row, ...] = (
    # Prices that change on a day that questions ask about, and on the day after it.
    (20, date(2023, 6, 30), Decimal("14.05")),
    (21, date(2023, 7, 1), Decimal("16.80")),
    (19, date(2024, 2, 29), Decimal("14.20")),
)

CUSTOMER_NAMES = [
    "Aldous Finch", "Beatrix Lowe", "O'Malley's Tea Room", "Casper Holt", "Delia Marsh", "Ewan Pryce", "Freya Østergaard",
    "Gustav Klein", "Hotel Seebrücke", "Ingrid Falk", "Jasper Ní Bhriain", "Kornblume GmbH", "Lydia Hart", "Milo Brandt",
    "Nettle & Rye", "Orla Keane", "Percy Vane", "Quill Deli", "Renske Bos", "Saffron Kitchen", "Theo Grant", "Ulla Vinter",
    "Vera Lind", "Wim Aerts",
    "Xander Poole", "Yrsa Holm", "Zelda March", "Bistro Åkande", "Alma Reyes", "Bruno Sá", "Cleo Hardy", "Dora Milne",
    "Elsa Krog", "Finn Abel", "Gaia Conti", "Harriet Sloane", "Isak Lund", "June Abbott", "Kai Moreau", "Leda Strand",
    "Moss & Daughter", "Nils Frey", "Olive Tree Café", "Pia Roth", "Quincy Bell", "Runa Vik", "Silas Gray", "Tilda Moor",
    "Uwe Brandt", "Viola Chase", "Wren Bakery", "Ximena Paz", "Yorick Dunn", "Zora Hale", "Anton Weir", "Birgit Schön",
    "Cato Wynn", "Delphine Roy", "Edmund Sá",
]  # fmt: skip

CUSTOMERS: tuple[Row, ...] = (
    (29, "Alma Reyes", "private", "Köln", "customer29@mail.example", None),
    (46, "Runa Vik", "private", "Köln", None, 29),
    (55, "Anton Weir", "restaurant", "Thornwick", "customer55@KOOP.example", 3),
)
ORDERS: tuple[Row, ...] = (
    # The year's last and first second, and a cancelled near miss.
    (321, 4, datetime(2023, 12, 31, 23, 59, 59), "paid", "web", None),
    (322, 4, datetime(2024, 1, 1, 0, 0, 0), "paid", "web", None),
    (323, 4, datetime(2023, 12, 31, 23, 30, 0), "cancelled", "web", None),
    (324, 11, datetime(2024, 2, 29, 18, 0, 0), "shipped", "phone", Decimal("5.0")),
    (325, None, datetime(2024, 3, 31, 23, 59, 59), "paid", "stall", None),
    (326, None, datetime(2024, 4, 1, 0, 0, 0), "paid", "stall", None),
    # Customers whose orders lie just inside or just outside a year.
    (327, 49, datetime(2022, 12, 31, 12, 0, 0), "shipped", "web", Decimal("2.5")),
    (328, 49, datetime(2024, 5, 6, 9, 30, 0), "paid", "web", None),
    (329, 50, datetime(2023, 1, 1, 0, 0, 0), "paid", "web", None),
    (330, 50, datetime(2024, 6, 1, 14, 0, 0), "shipped", "phone", None),
    (331, 51, datetime(2023, 12, 31, 23, 59, 59), "paid", "web", Decimal("15.0")),
    (332, 51, datetime(2024, 7, 2, 10, 0, 0), "paid", "stall", None),
    (333, 52, datetime(2023, 4, 4, 11, 11, 11), "open", "phone", None),
    (334, 52, datetime(2024, 1, 1, 0, 0, 0), "paid", "web", Decimal("15.0")),
    (335, 53, datetime(2023, 4, 5, 16, 0, 0), "shipped", "stall", None),
    (336, 53, datetime(2024, 12, 31, 23, 59, 59), "paid", "web", Decimal("15.0")),
    (337, 54, datetime(2023, 4, 6, 8, 45, 0), "paid", "web", None),
    (338, 54, datetime(2025, 1, 1, 0, 0, 0), "paid", "web", Decimal("15.0")),
    (339, 47, datetime(2024, 1, 1, 0, 0, 0), "paid", "phone", None),
    (340, 48, datetime(2023, 5, 1, 12, 0, 0), "cancelled", "web", None),
    (341, 48, datetime(2024, 5, 1, 12, 0, 0), "paid", "web", None),
    (342, 1, datetime(2025, 1, 2, 9, 0, 0), "shipped", "stall", None),
    # A candle that was ordered, but cancelled.
    (343, 5, datetime(2024, 3, 3, 13, 0, 0), "cancelled", "phone", None),
    (344, 55, datetime(2024, 8, 8, 18, 30, 0), "shipped", "stall", None),
    (345, 56, datetime(2023, 8, 1, 9, 5, 0), "paid", "web", None),
    (346, 56, datetime(2024, 8, 1, 9, 5, 0), "cancelled", "web", None),
    (347, 57, datetime(2023, 12, 31, 18, 0, 0), "paid", "phone", None),
    # Pairs and totals that end in a tie.
    (348, 33, datetime(2024, 3, 16, 10, 40, 0), "paid", "stall", None),
    (349, 34, datetime(2024, 3, 23, 11, 20, 0), "paid", "stall", None),
)
WHOLLY_BY_HAND: frozenset[int] = frozenset(range(321, 350))
ORDER_LINES: tuple[Row, ...] = (
    (321, 1, 2, 3, Decimal("9.20")),
    (322, 1, 2, 1, Decimal("9.20")),
    (322, 2, 9, 1, Decimal("14.90")),
    (323, 1, 8, 12, Decimal("13.20")),
    (324, 1, 19, 6, Decimal("13.90")),
    (324, 2, 4, 2, Decimal("11.50")),
    (325, 1, 11, 2, Decimal("3.90")),
    (326, 1, 11, 5, Decimal("3.90")),
    (327, 1, 5, 2, Decimal("7.90")),
    (328, 1, 17, 2, Decimal("10.00")),
    (329, 1, 6, 1, Decimal("8.60")),
    (330, 1, 17, 6, Decimal("10.00")),
    (331, 1, 1, 3, Decimal("5.25")),
    (332, 1, 3, 1, Decimal("6.40")),
    (333, 1, 14, 2, Decimal("3.60")),
    (334, 1, 8, 1, Decimal("13.20")),
    (335, 1, 16, 4, Decimal("4.90")),
    (336, 1, 2, 2, Decimal("9.50")),
    (336, 2, 25, 1, Decimal("15.20")),
    (337, 1, 5, 1, Decimal("7.90")),
    (338, 1, 4, 3, Decimal("11.50")),
    (339, 1, 18, 10, Decimal("4.50")),
    (340, 1, 10, 1, Decimal("7.45")),
    (341, 1, 20, 1, Decimal("14.15")),
    (343, 1, 9, 2, Decimal("14.95")),
    (344, 1, 7, 4, Decimal("7.80")),
    (345, 1, 15, 1, Decimal("8.40")),
    (346, 1, 15, 1, Decimal("8.40")),
    (347, 1, 13, 1, Decimal("9.20")),
    (348, 1, 4, 1, Decimal("11.50")),
    (348, 2, 5, 1, Decimal("7.90")),
    (348, 3, 1, 1, Decimal("5.75")),
    (349, 1, 4, 1, Decimal("11.50")),
    (349, 2, 5, 1, Decimal("7.90")),
    (349, 3, 9, 8, Decimal("14.95")),
)
RETURNS: tuple[Row, ...] = (
    # One line of which pieces came back twice.
    (33, 321, 1, date(2024, 1, 10), 1, "leaking lid"),
    (34, 321, 1, date(2024, 2, 2), 1, None),
)
HELPERS = ("Ida Marlow", "Jost Kamp", "Runa O'Dea", "Sven Åberg", "Tess Quill", "Ned Farrow")
STALL_SHIFTS: tuple[Row, ...] = (
    # Over midnight, over the month's end, over the change to summer time.
    (61, "Tess Quill", "Thornwick fair", datetime(2024, 6, 30, 20, 0, 0), datetime(2024, 7, 1, 2, 30, 0)),
    (62, "Jost Kamp", "Saltby market", datetime(2024, 3, 30, 22, 0, 0), datetime(2024, 3, 31, 4, 0, 0)),
    (63, "Ida Marlow", "Saltby market", datetime(2024, 2, 29, 7, 0, 0), datetime(2024, 2, 29, 12, 15, 0)),
    (64, "Jost Kamp", "Thornwick fair", datetime(2024, 10, 12, 8, 0, 0), datetime(2024, 10, 12, 13, 30, 0)),
    (65, "Ned Farrow", "Kirkmoor station", datetime(2024, 10, 13, 8, 0, 0), None),
    (66, "Ned Farrow", "Kirkmoor station", datetime(2024, 10, 20, 8, 0, 0), None),
    (67, "Ned Farrow", "Kirkmoor station", datetime(2024, 10, 27, 8, 0, 0), None),
)
