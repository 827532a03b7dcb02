"""A baseline that is not what the run is compared with as it stands: refused, restricted or announced, never a silent delta."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from shop import Shop

UNQUOTED = str.maketrans("", "", "\\`")
"""What Markdown adds to a text."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run of six right answers, blessed as baseline.json."""
    shop = Shop.open(tmp_path_factory.mktemp("finished"))
    assert shop.run().returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    return shop.folder


@dataclass(frozen=True)
class Row:
    """How the baseline differs, the exit code, and what must be said."""

    name: str
    code: int
    says: tuple[str, ...]
    change: Callable[[dict[str, Any]], None]


def prints(tree: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = tree["provenance"]["fingerprint"]
    return found


def another_scorer(tree: dict[str, Any]) -> None:
    prints(tree)["scorers"]["execution_accuracy"] = "0"


def another_scorer_unsaid(tree: dict[str, Any]) -> None:
    """The fingerprint does not say it, the scores do."""
    del prints(tree)["scorers"]
    for case in tree["cases"]:
        case["scores"]["execution_accuracy"]["version"] = "0"


def other_scoring(tree: dict[str, Any]) -> None:
    prints(tree)["settings"]["scoring"]["columns"] = "any_order"


def another_engine_version(tree: dict[str, Any]) -> None:
    prints(tree)["engines"]["sqlite"]["version"] = "3.1.0"


def another_product(tree: dict[str, Any]) -> None:
    prints(tree)["engines"]["sqlite"]["product"] = "libSQL"


def another_prompt(tree: dict[str, Any]) -> None:
    prints(tree)["prompt"]["digest"] = "0" * 64


def another_served_model(tree: dict[str, Any]) -> None:
    prints(tree)["model"]["served"] = ["small-model"]


def half_the_items(tree: dict[str, Any]) -> None:
    tree["cases"] = tree["cases"][:3]


def partial(tree: dict[str, Any]) -> None:
    half_the_items(tree)
    tree["complete"] = False


def another_dataset(tree: dict[str, Any]) -> None:
    prints(tree)["dataset"]["digest"] = "another"
    for case in tree["cases"]:
        case["digest"] = "another"


def no_cases(tree: dict[str, Any]) -> None:
    tree["cases"] = []


def no_provenance(tree: dict[str, Any]) -> None:
    tree["provenance"] = {}


ROWS = (
    Row("another scorer version", 3, ("scored by version 0 in the baseline", "nl2sql-gate rescore"), another_scorer),
    Row("another scorer version that only the scores tell", 3, ("by version 0",), another_scorer_unsaid),
    Row("other scoring settings", 3, ("settings.scoring.columns: any_order → position",), other_scoring),
    Row("another engine version", 0, ("engines.sqlite.version: 3.1.0 → ",), another_engine_version),
    Row("another database product", 3, ("engines.sqlite.product: libSQL → SQLite", "nothing could be paired"), another_product),
    Row("another prompt", 0, ("prompt.digest: 000000000000",), another_prompt),
    Row("another served model", 0, ("another model than for the baseline",), another_served_model),
    Row("half the items", 0, ("3 of 6 cases were compared: 3 new",), half_the_items),
    Row("a partial run", 0, ("the baseline is a partial run of 3 cases",), partial),
    Row("another dataset", 3, ("all 6 common cases changed",), another_dataset),
    Row("no cases", 3, ("the baseline holds 0 cases",), no_cases),
    Row("no provenance", 0, ("the baseline does not say what produced it",), no_provenance),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_differs_is_said_and_has_its_consequence(finished: Path, tmp_path: Path, row: Row) -> None:
    shop = Shop(tmp_path)
    tree = json.loads((finished / "baseline.json").read_text())
    row.change(tree)
    (tmp_path / "baseline.json").write_text(json.dumps(tree))
    ran = shop.gate("compare", str(finished / "nl2sql-gate-out/run.json"), "baseline.json")
    assert ran.returncode == row.code, ran.stdout + ran.stderr
    said = ran.stdout + (tmp_path / "nl2sql-gate-out/report.json").read_text()
    assert [part for part in row.says if part not in said] == [], said[:2000]
    assert [
        part for part in row.says if part not in (tmp_path / "nl2sql-gate-out/summary.md").read_text().translate(UNQUOTED)
    ] == []


BROKEN: tuple[tuple[str, Callable[[Path], object], str], ...] = (
    ("half a file", lambda path: path.write_bytes(path.read_bytes()[:700]), "baseline.json"),
    ("an empty file", lambda path: path.write_bytes(b""), "it is empty"),
    ("an archive", lambda path: path.write_bytes(b"PK\x03\x04rest"), "zip archive"),
    ("a pointer of Git LFS", lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\n"), "lfs: true"),
    (
        "an unfinished merge",
        lambda path: path.write_text('{\n<<<<<<< HEAD\n "a": 1\n=======\n}\n>>>>>>> x\n'),
        "conflict markers",
    ),
    ("another format's next major", lambda path: path.write_text('{"format": "nl2sql-gate/baseline/v2"}'), "newer release"),
)


@pytest.mark.parametrize(("name", "spoil", "says"), BROKEN, ids=[row[0] for row in BROKEN])
def test_what_cannot_be_read_stops_the_run_before_anything_is_asked(
    finished: Path, tmp_path: Path, name: str, spoil: Callable[[Path], object], says: str
) -> None:
    shop = Shop.open(tmp_path)
    shutil.copy(finished / "baseline.json", tmp_path / "baseline.json")
    spoil(tmp_path / "baseline.json")
    (tmp_path / "nl2sql-gate.yml").write_text("baseline: file:baseline.json\n")
    ran = shop.run()
    assert (ran.returncode, (tmp_path / "nl2sql-gate-out").exists()) == (2, False), ran.stdout + ran.stderr
    assert says in ran.stderr


def test_a_baseline_of_200_megabytes_is_refused_unread(tmp_path: Path) -> None:
    shop = Shop.open(tmp_path)
    with (tmp_path / "baseline.json").open("wb") as file:
        file.truncate(200_000_000)
    ran = shop.run("--baseline", "baseline.json")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "200 MB" in ran.stderr
