"""Rows of `bee_yards` written by hand: month ends, leap days, near misses, and rows that questions name."""

# ruff: noqa: DTZ001 (clock times in the data have no zone)

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from bundled_dataset.literals import Cell

Row = tuple[Cell, ...]


def _details(weather: str, honey_frames: int) -> dict[str, object]:
    return {"weather": weather, "stores": {"honey_frames": honey_frames, "pollen_frames": 1}}


MEMBER_NAMES = [
    "Agnes Thorne", "Bram de Vries", "Ana Sousa", "Cormac O'Hara", "Dilys Pritchard", "Łukasz Nowak", "Edda Kjær", "Farid Haddad",
    "Greta Lindqvist", "Hamish Orr", "Imke Janssen", "João Teixeira", "Kezia Blythe", "Lorcan Daly", "Marta Novák", "Noor Rahman",
    "Olaf Bråten", "Petra Šimić", "Quentin Ashe", "Rosa Márquez", "Sigrid Dahl", "Tobias Wren", "Una McBride", "Viktor Halász",
    "Wilma Croft", "Xenia Petrou", "Yusuf Demir", "Zofia Zając", "Ana Sousa", "Basil Quick", "Clodagh Finn", "Dirk Hooft",
    "Elin Sørby", "Fergus Tate", "Gwen Rees", "Hugo Lamar", "Inês Prado", "Jonas Berg", "Kirsten Vale", "Leif O'Hara",
    "Maeve Lund", "Niels Askov", "Oona Fell",
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

MEMBERS: tuple[Row, ...] = (
    # Joined on the first and the last day of 2023, and on both neighbours.
    (34, "Fergus Tate", "Saltby", date(2022, 12, 31), date(2023, 5, 1), 21, None, False),
    (37, "Inês Prado", "Saltby", date(2023, 1, 1), None, 22, "member37@post.example", True),
    (40, "Leif O'Hara", "Harrow End", date(2023, 12, 31), None, 14, "member40@bees.example", False),
    (41, "Maeve Lund", "Kirkmoor", date(2024, 1, 1), None, 12, "member41@bees.example", None),
    (42, "Niels Askov", None, date(2024, 2, 29), None, None, None, False),
    (43, "Oona Fell", "Thornwick", date(2023, 10, 2), None, None, "member43@post.example", True),
)
HIVES: tuple[Row, ...] = (
    (91, "TB-091", 14, "skep", date(2024, 9, 5), None, None),
    (92, "TB-092", 4, "top bar", date(2024, 5, 2), None, 61),
    (93, "TB-093", None, "top bar", date(2024, 5, 30), None, None),
)
QUEENS: tuple[Row, ...] = ()
INSPECTIONS: tuple[Row, ...] = (
    # The leap day, to the second, and its neighbours.
    (401, 7, 9, datetime(2024, 2, 28, 23, 59, 59), 2, 1, 4, True, "Late look with a red lamp.", {"weather": "windy"}),
    (402, 7, 9, datetime(2024, 2, 29, 0, 0, 0), 2, 3, 4, False, None, _details("windy", 5)),
    (403, 12, 21, datetime(2024, 2, 29, 11, 30, 0), None, 0, 3, True, "First flight of the year.", {"weather": "sunny"}),
    (404, 23, None, datetime(2024, 2, 29, 23, 59, 59), 1, None, None, None, None, None),
    (405, 41, 4, datetime(2024, 3, 1, 0, 0, 0), 3, 2, 5, True, None, {"weather": "overcast"}),
    (406, 12, 21, datetime(2023, 2, 28, 11, 30, 0), 1, 5, 3, True, None, {"weather": "rain"}),
    (407, 7, 18, datetime(2024, 2, 29, 15, 0, 0), 3, 12, 4, True, None, {"weather": "sunny"}),
    # The turns of the years, to the second.
    (408, 12, 21, datetime(2022, 12, 31, 15, 0, 0), 9, 40, 2, None, "Cover 5 % damp.", _details("rain", 2)),
    (409, 12, 21, datetime(2023, 1, 1, 0, 0, 0), 0, 2, 3, False, "Cover 10 % damp.", _details("rain", 2)),
    (410, 12, 21, datetime(2023, 12, 31, 23, 59, 59), 10, 7, 1, None, "Cover 15 % damp.", _details("windy", 8)),
    (411, 12, 21, datetime(2024, 1, 1, 0, 0, 0), 1, 33, 3, None, "Cover 20 % damp.", _details("overcast", 7)),
    (412, 12, 21, datetime(2024, 12, 31, 23, 59, 59), 9, 1, 2, False, "Cover 25 % damp.", _details("rain", 1)),
    (413, 12, 21, datetime(2025, 1, 1, 0, 0, 0), 10, 35, 5, False, "Cover 30 % damp.", _details("rain", 1)),
    (414, 91, 43, datetime(2024, 9, 20, 10, 0, 0), 4, None, 4, True, "The skep hums.", {"weather": "sunny"}),
    # Days on which several things happened to hive 14.
    (415, 14, 6, datetime(2022, 12, 31, 10, 0, 0), 1, 4, 4, None, None, None),
    (416, 14, 6, datetime(2023, 8, 9, 7, 5, 0), 5, 9, 4, True, None, {"weather": "windy"}),
    (417, 14, 8, datetime(2023, 12, 31, 9, 0, 0), 0, None, 4, None, "No swarm signs.", None),
    (418, 14, 8, datetime(2024, 1, 1, 9, 0, 0), 0, 14, 3, None, None, None),
    (419, 58, 11, datetime(2024, 7, 15, 8, 20, 0), 6, 3, 5, False, "Calm, plenty of stores.", {"weather": "overcast"}),
    (420, 14, 8, datetime(2023, 1, 1, 12, 0, 0), 0, None, 4, None, None, None),
)
HARVESTS: tuple[Row, ...] = (
    # July 2023 has its first and last day, and both neighbours.
    (221, 3, date(2023, 6, 30), "linden", Decimal("11.25"), Decimal("17.4")),
    (222, 3, date(2023, 7, 1), "linden", Decimal("9.80"), Decimal("17.9")),
    (223, 14, date(2023, 7, 31), "linden", Decimal("14.05"), Decimal("18.0")),
    (224, 14, date(2023, 8, 1), "linden", Decimal("7.35"), Decimal("18.1")),
    (225, 7, date(2022, 7, 31), "linden", Decimal("13.15"), Decimal("16.6")),
    (226, 7, date(2024, 7, 31), "linden", Decimal("12.45"), None),
    # Comb taken from dead hives at the turns of the years.
    (227, 3, date(2022, 12, 31), "heather", Decimal("6.10"), None),
    (228, 3, date(2023, 1, 1), "heather", Decimal("8.25"), None),
    (229, 3, date(2023, 12, 31), "blossom", Decimal("5.45"), Decimal("18.9")),
    (230, 8, date(2024, 1, 1), "forest", Decimal("7.95"), None),
    (231, 8, date(2024, 12, 31), None, Decimal("6.05"), Decimal("19.2")),
    (232, 8, date(2025, 1, 1), "linden", Decimal("9.15"), None),
    (233, 8, date(2023, 12, 31), "heather", Decimal("4.85"), None),
    # Days on which several things happened to hive 14.
    (234, 14, date(2023, 8, 9), "blossom", Decimal("2.20"), None),
    (235, 14, date(2023, 8, 31), "heather", Decimal("3.15"), Decimal("17.0")),
    (236, 3, date(2024, 1, 1), "heather", Decimal("4.10"), None),
    (237, 3, date(2023, 6, 19), "blossom", Decimal("4.35"), Decimal("18.2")),
)
SCALE_READINGS: tuple[Row, ...] = (
    # A scale that never spoke on two days in a row.
    (50, date(2024, 3, 10), Decimal("24.80")),
    (50, date(2024, 3, 13), Decimal("24.35")),
)
SILENT_DAYS: dict[int, tuple[date, ...]] = {
    7: (date(2024, 2, 29),),
    12: (date(2024, 3, 26), date(2024, 3, 27), date(2024, 3, 28)),
    23: (date(2024, 2, 28), date(2024, 3, 1)),
}
LOUD_DAYS: dict[int, tuple[date, ...]] = {
    12: (date(2024, 3, 31), date(2024, 4, 1), date(2024, 4, 10), date(2024, 4, 11)),
}
TREATMENTS: tuple[Row, ...] = (
    (91, 14, "oxalic acid", date(2023, 10, 20), date(2023, 11, 3), Decimal("35.0")),
    (92, 14, "thymol", date(2023, 10, 20), date(2023, 11, 20), None),
    # Harvests of hive 3 fall on a last day, on a first day, and into two treatments at once.
    (93, 3, "thymol", date(2023, 7, 1), date(2023, 7, 10), Decimal("12.5")),
    (94, 3, "lactic acid", date(2023, 6, 5), date(2023, 6, 19), Decimal("20.0")),
    (95, 3, "formic acid", date(2023, 6, 28), date(2023, 7, 5), Decimal("18.0")),
    # Treatments that share one day only, and two that miss each other by a day.
    (96, 23, "thymol", date(2024, 5, 1), date(2024, 5, 10), Decimal("10.0")),
    (97, 23, "oxalic acid", date(2024, 5, 10), date(2024, 5, 20), Decimal("30.0")),
    (98, 23, "lactic acid", date(2024, 6, 11), date(2024, 6, 15), None),
    (99, 23, "thymol", date(2024, 6, 1), date(2024, 6, 11), Decimal("10.0")),
    (100, 23, "formic acid", date(2024, 5, 21), date(2024, 5, 31), Decimal("8.5")),
    (102, 14, "lactic acid", date(2024, 1, 5), date(2024, 2, 24), Decimal("15.0")),
    (101, 55, "sticky board", date(2024, 9, 1), None, None),
)


def replaced(rows: Iterable[Row], by_hand: Iterable[Row]) -> list[Row]:
    """The drawn rows with those of the same key replaced by the ones written by hand, new ones added, in key order."""
    merged = {row[0]: row for row in rows} | {row[0]: row for row in by_hand}
    return [merged[key] for key in sorted(merged, key=lambda cell: int(str(cell)))]
