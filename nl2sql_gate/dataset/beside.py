"""Files that lie beside a dataset and belong to it: golden SQL, documents, knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nl2sql_gate.dataset.sql_fields import database_fault
from nl2sql_gate.dataset.text_files import read_text
from nl2sql_gate.errors import DatasetError


class Beside:
    """The files beside one dataset, in the first of `folders` that has them. What was read is in `texts`, for the digest."""

    def __init__(self, file: str, folders: Sequence[str], *, what: str) -> None:
        parent = Path(file).parent
        self.folders = [parent / folder for folder in folders if (parent / folder).is_dir()]
        self.texts: dict[str, str] = {}
        self._what = what

    def read(self, name: str) -> str | None:
        """The text of the file `name`, or `None` where no folder has it. A name that is a path is no file."""
        if database_fault(name):
            return None
        for folder in self.folders:
            path = folder / name
            if path.is_file():
                text = read_text(path, error=DatasetError, what=self._what).removeprefix("\ufeff").replace("\r\n", "\n")
                self.texts[f"{folder.name}/{name}"] = text
                return text
        return None
