"""Data directories that are kept from run to run."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from nl2sql_gate.engines import prepared
from nl2sql_gate.engines.server_process import ServerProcess

BINARY = Path(sys.executable)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(prepared.VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


class Maker:
    """Makes a data directory, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, process: ServerProcess, data: Path) -> None:
        self.times += 1
        process.run(["sh", "-c", f"mkdir -p {data}/base && echo {self.times} > {data}/base/number"])


def made(maker: Maker, recipe: str = "a") -> str:
    """What a new server finds in its data directory."""
    process = ServerProcess("nl2sql-gate-test-prepared-", users=("nobody",))
    try:
        data = process.folder / "data"
        prepared.make_data(process, data, BINARY, maker, recipe=recipe)
        assert data.stat().st_uid == process.folder.stat().st_uid
        assert (data / "base" / "number").stat().st_uid == process.folder.stat().st_uid
        process.run(["sh", "-c", f"echo used > {data}/base/used"])
        return (data / "base" / "number").read_text().strip()
    finally:
        process.stop(ask=signal.SIGTERM)


def test_the_second_run_takes_what_the_first_kept(home: Path) -> None:
    maker = Maker()
    assert [made(maker), made(maker), made(maker)] == ["1", "1", "1"]
    assert [path.name for path in home.rglob("used")] == []


def test_another_recipe_is_made_anew(home: Path) -> None:
    maker = Maker()
    assert [made(maker, "a"), made(maker, "b"), made(maker, "a")] == ["1", "2", "1"]


def test_nothing_is_kept_where_the_variable_is_empty(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(prepared.VARIABLE, "")
    maker = Maker()
    assert [made(maker), made(maker)] == ["1", "2"]
    assert list(home.iterdir()) == []


def test_a_folder_that_is_named_is_read_and_not_written(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "named"
    folder.mkdir()
    monkeypatch.setenv(prepared.VARIABLE, str(folder))
    maker = Maker()
    assert [made(maker), made(maker)] == ["1", "2"]
    assert list(folder.iterdir()) == []
    ready = folder / prepared.build_name(BINARY)
    (ready / "base").mkdir(parents=True)
    (ready / "base" / "number").write_text("ready")
    assert made(maker) == "ready"


def test_a_cache_that_cannot_be_written_costs_nothing_else(home: Path) -> None:
    (home / ".cache").write_text("a file where a folder should be")
    maker = Maker()
    assert [made(maker), made(maker)] == ["1", "2"]
