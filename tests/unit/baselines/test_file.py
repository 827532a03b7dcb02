"""A baseline in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nl2sql_gate.baselines.file import FileStore
from nl2sql_gate.errors import BaselineError


def test_what_is_stored_is_fetched(tmp_path: Path, content: Any) -> None:
    store = FileStore(str(tmp_path / "evals" / "baseline.json"))
    assert store.fetch() is None
    assert "baseline.json" in store.store(content("1"), message="m")
    assert store.fetch() == content("1")


def test_what_cannot_be_read_or_written_says_so(tmp_path: Path, content: Any) -> None:
    with pytest.raises(BaselineError, match="cannot be read"):
        FileStore(str(tmp_path)).fetch()
    (tmp_path / "file").write_text("x")
    with pytest.raises(BaselineError, match="cannot be written"):
        FileStore(str(tmp_path / "file" / "baseline.json")).store(content(), message="m")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "b.json").open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(BaselineError, match="cannot be read"):
        FileStore(str(tmp_path / "b.json")).fetch()
