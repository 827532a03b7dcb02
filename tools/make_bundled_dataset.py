"""Write the rows of the bundled dataset's databases: the same bytes on every run and every Python.

Usage: python tools/make_bundled_dataset.py [FOLDER]   (default: datasets/thistledown/setup beside this folder)
"""

from __future__ import annotations

import sys
from pathlib import Path

from bundled_dataset import bee_yards, honey_market
from bundled_dataset.literals import write_table

DEFAULT = Path(__file__).resolve().parent.parent / "datasets" / "thistledown" / "setup"


def main(folder: Path) -> None:
    """Write every table of both databases below `folder` and say how many rows each has."""
    for database, tables in (("bee_yards", bee_yards.tables()), ("honey_market", honey_market.tables())):
        data = folder / database / "data"
        data.mkdir(parents=True, exist_ok=True)
        for table, rows in tables.items():
            print(f"{database}.{table}: {write_table(data / f'{table}.csv', rows)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
