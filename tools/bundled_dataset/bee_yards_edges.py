"""Rows of `bee_yards` written by hand: month ends, leap days, near misses, and rows that questions name."""

# ruff: noqa: DTZ001 (clock times in the data have no zone)

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from bundled_dataset.literals import Cell

Row = tuple[Cell, ...]

MEMBER_NAMES = [
    "Agnes Thorne", "Bram de Vries", "Ana Sousa", "Cormac O'Hara", "Dilys Pritchard", "Łukasz Nowak", "Edda Kjær", "Farid Haddad",
    "Greta Lindqvist", "Hamish Orr", "Imke Janssen", "João Teixeira", "Kezia Blythe", "Lorcan Daly", "Marta Novák", "Noor Rahman",
    "Olaf Bråten", "Petra Šimić", "Quentin Ashe", "Rosa Márquez", "Sigrid Dahl", "Tobias Wren", "Una McBride", "Viktor Halász",
    "Wilma Croft", "Xenia Petrou", "Yusuf Demir", "Zofia Zając", "Ana Sousa", "Basil Quick", "Clodagh Finn", "Dirk Hooft",
    "Elin Sørby", "Fergus Tate", "Gwen Rees", "Hugo Lamar", "Inês Prado", "Jonas Berg", "Kirsten Vale", "Leif O'Hara",
]  # fmt: skip

YARDS: tuple[Row, ...] = (
    (1, "Gull Point", "salt marsh", 3, 2, date(2015, 4, 1), None),
    (2, "Old Orchard", "orchard", 48, 1, date(2014, 3, 15), None),
    (3, "Linden Walk", "linden avenue", 61, 1, date(2016, 5, 1), None),
    (4, "Heather Rise", "heath", 212, 7, date(2017, 7, 1), None),
    (5, "Mill Race", "riverside", 35, 9, date(2018, 4, 30), None),
    (6, "St. Brigid's", "orchard", 77, 4, date(2016, 2, 29), None),
    (7, "Bråten", "heath", 305, 17, date(2019, 6, 1), None),
    (8, "Quarry Edge", "forest edge", 158, 12, date(2018, 9, 1), None),
    (9, "Chapel Lane", "orchard", None, 5, date(2020, 3, 1), None),
    (10, "Sallow Field", "riverside", 22, 9, date(2014, 5, 1), date(2023, 10, 31)),
    (11, "Tern Island", "salt marsh", 1, None, date(2017, 4, 1), date(2020, 9, 30)),
    (12, "Upper Heath", "heath", 340, 7, date(2024, 4, 1), None),
    (13, "Foxglove Cut", "forest edge", 166, None, date(2021, 5, 1), None),
    (14, "Piper's Barn", "orchard", None, None, date(2024, 9, 1), None),
)

MEMBERS: tuple[Row, ...] = ()
HIVES: tuple[Row, ...] = ()
QUEENS: tuple[Row, ...] = ()
INSPECTIONS: tuple[Row, ...] = (
    # The leap day, to the second, and its neighbours.
    (401, 7, 9, datetime(2024, 2, 28, 23, 59, 59), 2, 1, 4, True, "Late look with a red lamp.", {"weather": "windy"}),
    (
        402,
        7,
        9,
        datetime(2024, 2, 29, 0, 0, 0),
        2,
        3,
        4,
        False,
        None,
        {"weather": "windy", "stores": {"honey_frames": 5, "pollen_frames": 1}},
    ),
    (403, 12, 21, datetime(2024, 2, 29, 11, 30, 0), None, 0, 3, True, "First flight of the year.", {"weather": "sunny"}),
    (404, 23, None, datetime(2024, 2, 29, 23, 59, 59), 1, None, None, None, None, None),
    (405, 41, 4, datetime(2024, 3, 1, 0, 0, 0), 3, 2, 5, True, None, {"weather": "overcast"}),
    (406, 12, 21, datetime(2023, 2, 28, 11, 30, 0), 1, 5, 3, True, None, {"weather": "rain"}),
)
HARVESTS: tuple[Row, ...] = (
    # July 2023 has its first and last day, and both neighbours.
    (221, 3, date(2023, 6, 30), "linden", Decimal("11.25"), Decimal("17.4")),
    (222, 3, date(2023, 7, 1), "linden", Decimal("9.80"), Decimal("17.9")),
    (223, 14, date(2023, 7, 31), "linden", Decimal("14.05"), Decimal("18.0")),
    (224, 14, date(2023, 8, 1), "linden", Decimal("7.35"), Decimal("18.1")),
    (225, 7, date(2022, 7, 31), "linden", Decimal("13.15"), Decimal("16.6")),
    (226, 7, date(2024, 7, 31), "linden", Decimal("12.45"), None),
)
SILENT_DAYS: dict[int, tuple[date, ...]] = {
    7: (date(2024, 2, 29),),
    12: (date(2024, 3, 30), date(2024, 3, 31), date(2024, 4, 1)),
    23: (date(2024, 2, 28), date(2024, 3, 1)),
}
TREATMENTS: tuple[Row, ...] = ()


def replaced(rows: Iterable[Row], by_hand: Iterable[Row]) -> list[Row]:
    """The drawn rows with those of the same key replaced by the ones written by hand, new ones added, in key order."""
    merged = {row[0]: row for row in rows} | {row[0]: row for row in by_hand}
    return [merged[key] for key in sorted(merged, key=lambda cell: int(str(cell)))]
