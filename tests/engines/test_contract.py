"""What every engine does alike, on our own engines. The other parts of the contract stand beside what is particular to one engine."""

from __future__ import annotations

from pathlib import Path

from nl2sql_gate.testing import PARTS, Building, Results, Service

from declared import ENGINES


class TestService(Service):
    engines = ENGINES


class TestBuilding(Building):
    engines = ENGINES


class TestResults(Results):
    engines = ENGINES


def test_every_part_of_the_contract_is_held(root: Path) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "tests/engines").glob("test_*.py")))
    assert [
        part.__name__ for part in PARTS if f"class Test{part.__name__}({part.__name__}):\n    engines = ENGINES\n" not in text
    ] == []
