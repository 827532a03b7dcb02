"""Rows of `honey_market` written by hand: the range, names that questions use, month ends, near misses."""

# ruff: noqa: DTZ001 (clock times in the data have no zone)

from __future__ import annotations

from datetime import datetime
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
)

PRICE_CHANGES: tuple[Row, ...] = ()

CUSTOMER_NAMES = [
    "Aldous Finch", "Beatrix Lowe", "O'Malley's Tea Room", "Casper Holt", "Delia Marsh", "Ewan Pryce", "Freya Østergaard",
    "Gustav Klein", "Hotel Seebrücke", "Ingrid Falk", "Jasper Ní Bhriain", "Kornblume GmbH", "Lydia Hart", "Milo Brandt",
    "Nettle & Rye", "Orla Keane", "Percy Vane", "Quill Deli", "Renske Bos", "Saffron Kitchen", "Theo Grant", "Ulla Vinter",
    "Vera Lind", "Wim Aerts",
    "Xander Poole", "Yrsa Holm", "Zelda March", "Bistro Åkande", "Alma Reyes", "Bruno Sá", "Cleo Hardy", "Dora Milne",
    "Elsa Krog", "Finn Abel", "Gaia Conti", "Harriet Sloane", "Isak Lund", "June Abbott", "Kai Moreau", "Leda Strand",
    "Moss & Daughter", "Nils Frey", "Olive Tree Café", "Pia Roth", "Quincy Bell", "Runa Vik", "Silas Gray", "Tilda Moor",
    "Uwe Brandt", "Viola Chase", "Wren Bakery", "Ximena Paz", "Yorick Dunn", "Zora Hale", "Anton Weir", "Birgit Schön",
]  # fmt: skip

CUSTOMERS: tuple[Row, ...] = ()
ORDERS: tuple[Row, ...] = (
    # The year's last and first second, and a cancelled near miss.
    (321, 4, datetime(2023, 12, 31, 23, 59, 59), "paid", "web", None),
    (322, 4, datetime(2024, 1, 1, 0, 0, 0), "paid", "web", None),
    (323, 4, datetime(2023, 12, 31, 23, 30, 0), "cancelled", "web", None),
    (324, 11, datetime(2024, 2, 29, 18, 0, 0), "shipped", "phone", Decimal("5.0")),
    (325, None, datetime(2024, 3, 31, 23, 59, 59), "paid", "stall", None),
    (326, None, datetime(2024, 4, 1, 0, 0, 0), "paid", "stall", None),
)
WHOLLY_BY_HAND: frozenset[int] = frozenset({321, 322, 323, 324, 325, 326})
ORDER_LINES: tuple[Row, ...] = (
    (321, 1, 2, 3, Decimal("9.20")),
    (322, 1, 2, 1, Decimal("9.20")),
    (322, 2, 9, 1, Decimal("14.90")),
    (323, 1, 8, 12, Decimal("13.20")),
    (324, 1, 19, 6, Decimal("13.90")),
    (324, 2, 4, 2, Decimal("11.50")),
    (325, 1, 11, 2, Decimal("3.90")),
    (326, 1, 11, 5, Decimal("3.90")),
)
RETURNS: tuple[Row, ...] = ()
HELPERS = ("Ida Marlow", "Jost Kamp", "Runa O'Dea", "Sven Åberg", "Tess Quill", "Ned Farrow")
STALL_SHIFTS: tuple[Row, ...] = (
    # Over midnight, over the month's end, over the change to summer time.
    (61, "Tess Quill", "Thornwick fair", datetime(2024, 6, 30, 20, 0, 0), datetime(2024, 7, 1, 2, 30, 0)),
    (62, "Jost Kamp", "Saltby market", datetime(2024, 3, 30, 22, 0, 0), datetime(2024, 3, 31, 4, 0, 0)),
    (63, "Ida Marlow", "Saltby market", datetime(2024, 2, 29, 7, 0, 0), datetime(2024, 2, 29, 12, 15, 0)),
)
