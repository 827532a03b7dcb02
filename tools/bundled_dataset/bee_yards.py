"""Rows of `bee_yards`: who keeps bees where, and what the hives weighed, carried and gave."""

# ruff: noqa: PLR2004 (numbers that shape made-up data)

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from bundled_dataset import bee_yards_edges as edges
from bundled_dataset.draws import between, chance, day_between, hundredths, pick, weighted
from bundled_dataset.literals import Cell

Rows = list[tuple[Cell, ...]]

VILLAGES = [("Thornwick", 9), ("Saltby", 7), ("Harrow End", 5), ("Kirkmoor", 4), ("Åsgård", 2), (None, 3)]
HIVE_TYPES = [("Langstroth", 10), ("Dadant", 6), ("Warré", 3), ("top bar", 2)]
HONEY_TYPES = [("linden", 8), ("heather", 6), ("blossom", 6), ("forest", 3), (None, 3)]
PRODUCTS = ["oxalic acid", "formic acid", "thymol", "lactic acid"]
WEATHER = [("sunny", 8), ("overcast", 6), ("windy", 4), ("rain", 3)]
NOTES = [
    (None, 12),
    ("Calm, plenty of stores.", 5),
    ("Swarm cells on two frames, cut out.", 2),
    ("No swarm signs.", 2),
    ("SWARMED, took half the bees.", 1),
    ("Frames 100 % capped.", 2),
    ("About 60 percent capped.", 2),
    ("Borrowed O'Hara's smoker.", 1),
    ("Queen not found; eggs present.", 3),
    ("Måske dronningeløs, kig igen.", 1),
    ("", 1),
]
SCALE_HIVES = {7: 3105, 12: 2840, 23: 3350, 41: 2715, 58: 2990}
SCALE_FIRST, SCALE_LAST = date(2024, 2, 20), date(2024, 4, 24)


def tables() -> dict[str, Rows]:
    """All tables, parents first."""
    hives = _hives()
    return {
        "members": _members(),
        "yards": list(edges.YARDS),
        "hives": hives,
        "queens": _queens(),
        "inspections": _inspections(hives),
        "harvests": _harvests(hives),
        "scale_readings": _scale_readings(),
        "treatments": _treatments(hives),
    }


def _members() -> Rows:
    rows: Rows = []
    for number, name in enumerate(edges.MEMBER_NAMES, start=1):
        joined = date(2014, 3, 1) + timedelta(days=number * 84 + between(0, 240, "joined", number))
        left = (
            day_between(max(joined, date(2021, 1, 1)), date(2024, 6, 30), "left", number) if chance(0.2, "gone", number) else None
        )
        mentor = between(1, max(1, number - 1), "mentor", number) if number > 3 and chance(0.7, "mentored", number) else None
        email = (
            None
            if chance(0.25, "no mail", number)
            else f"member{number:02d}@{pick(['thistledown.example', 'bees.example', 'post.example'], number)}"
        )
        certified = weighted([(True, 5), (False, 3), (None, 2)], "certified", number)
        rows.append((number, name, weighted(VILLAGES, "village", number), joined, left, mentor, email, certified))
    return edges.replaced(rows, edges.MEMBERS)


def _hives() -> Rows:
    rows: Rows = []
    for number in range(1, 91):
        installed = date(2019, 4, 1) + timedelta(days=number * 20 + between(0, 59, "installed", number))
        retired = day_between(max(installed + timedelta(days=60), date(2022, 1, 1)), date(2024, 9, 30), "retired", number)
        yard = weighted(
            [(1, 9), (2, 12), (3, 14), (4, 10), (5, 7), (6, 8), (7, 5), (8, 8), (9, 4), (10, 2), (13, 4), (None, 5)],
            "yard",
            number,
        )
        split = between(1, number - 4, "split", number) if number > 8 and chance(0.3, "is split", number) else None
        rows.append(
            (
                number,
                f"TB-{number:03d}",
                yard,
                weighted(HIVE_TYPES, "type", number),
                installed,
                retired if chance(0.17, "is retired", number) else None,
                split,
            )
        )
    return edges.replaced(rows, edges.HIVES)


def _queens() -> Rows:
    rows: Rows = []
    for number in range(1, 101):
        hive = between(1, 90, "queen's hive", number) if chance(0.85, "hived", number) else None
        mother = (
            between(max(1, number - 40), number - 1, "mother", number)
            if number > 6 and chance(0.75, "known mother", number)
            else None
        )
        hatched = date(2018, 5, 1) + timedelta(days=number * 22 + between(0, 15, "hatched", number))
        breed = weighted([("Buckfast", 5), ("Carnica", 5), ("Mellifera", 3), (None, 2)], "breed", number)
        rows.append((number, hive, mother, breed, hatched, weighted([(True, 3), (False, 4), (None, 1)], "clipped", number)))
    return edges.replaced(rows, edges.QUEENS)


def _inspections(hives: Sequence[tuple[Cell, ...]]) -> Rows:
    rows: Rows = []
    for number in range(1, 401):
        day = day_between(date(2022, 3, 15), date(2024, 9, 30), "inspection day", number)
        hive = _in_service(hives[:82], day, "inspected", number)
        at = datetime.combine(
            day, time(between(7, 19, "hour", number), pick([0, 5, 10, 15, 20, 30, 40, 45, 50], "minute", number))
        )
        inspector = between(1, 34, "inspector", number) if chance(0.9, "inspector known", number) else None
        brood = None if chance(0.12, "brood unknown", number) else between(0, 11, "brood", number)
        mites = (
            None
            if chance(0.3, "not counted", number)
            else min(between(0, 40, "mites", number), between(0, 60, "mites too", number))
        )
        temper = (
            None
            if chance(0.1, "temper unknown", number)
            else weighted([(1, 1), (2, 2), (3, 5), (4, 6), (5, 3)], "temper", number)
        )
        seen = weighted([(True, 6), (False, 4), (None, 2)], "queen seen", number)
        rows.append((number, hive, inspector, at, brood, mites, temper, seen, weighted(NOTES, "note", number), _details(number)))
    return edges.replaced(rows, edges.INSPECTIONS)


def _in_service(hives: Sequence[tuple[Cell, ...]], day: date, label: str, number: int) -> Cell:
    """A hive that stands somewhere on that day. Of two draws the smaller wins: the first hives see far more than the last."""
    attempt = 0
    while True:
        attempt += 1
        last = len(hives) - 1
        hive = hives[min(between(0, last, label, number, attempt), between(0, last, label, number, attempt, "again"))]
        installed, retired = str(hive[4]), str(hive[5] or date.max)
        if installed <= day.isoformat() <= retired:
            return hive[0]


def _details(number: int) -> dict[str, object] | None:
    if chance(0.15, "no details", number):
        return None
    details: dict[str, object] = {"weather": weighted(WEATHER, "weather", number)}
    if chance(0.8, "stores", number):
        details["stores"] = {
            "honey_frames": between(0, 9, "honey frames", number),
            "pollen_frames": between(0, 3, "pollen frames", number),
        }
    if chance(0.2, "pests", number):
        details["pests"] = [pick(["wax moth", "mice", "wasps"], "pest", number)]
    return details


def _harvests(hives: Sequence[tuple[Cell, ...]]) -> Rows:
    rows: Rows = []
    for number in range(1, 221):
        year = weighted([(2022, 3), (2023, 5), (2024, 5)], "harvest year", number)
        day = day_between(date(year, 5, 20), date(year, 9, 10), "harvest day", number)
        hive = _in_service(hives[:76], day, "harvested", number)
        moisture = None if chance(0.2, "not measured", number) else Decimal(between(155, 214, "moisture", number)).scaleb(-1)
        rows.append((number, hive, day, weighted(HONEY_TYPES, "honey", number), hundredths(180, 3240, "kg", number), moisture))
    return edges.replaced(rows, edges.HARVESTS)


def _scale_readings() -> Rows:
    rows: Rows = []
    for hive, start in SCALE_HIVES.items():
        grams = start
        day = SCALE_FIRST
        while day <= SCALE_LAST:
            grams += between(-42, 30, "weight", hive, day.toordinal()) + (
                between(60, 180, "flow", hive, day.toordinal()) if day.month == 4 else 0
            )
            silent = chance(0.12, "scale silent", hive, day.toordinal()) or day in edges.SILENT_DAYS.get(hive, ())
            if not silent or day in edges.LOUD_DAYS.get(hive, ()):
                rows.append((hive, day, Decimal(grams).scaleb(-2)))
            day += timedelta(days=1)
    return sorted([*rows, *edges.SCALE_READINGS], key=lambda row: (int(str(row[0])), str(row[1])))


def _treatments(hives: Sequence[tuple[Cell, ...]]) -> Rows:
    rows: Rows = []
    for number in range(1, 91):
        started = day_between(date(2022, 7, 1), date(2024, 9, 15), "started", number)
        hive = _in_service(hives[:90], started, "treated", number)
        ended = None if chance(0.15, "running", number) else started + timedelta(days=between(1, 42, "days", number))
        dose = None if chance(0.2, "dose unknown", number) else Decimal(between(20, 600, "dose", number)).scaleb(-1)
        rows.append((number, hive, pick(PRODUCTS, "product", number), started, ended, dose))
    return edges.replaced(rows, edges.TREATMENTS)
