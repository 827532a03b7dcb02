"""Vectors kept on disk under the digest of their text, so that no text is paid for twice."""

from __future__ import annotations

import array
import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from nl2sql_gate.protocols import Embedding

_KEYS = 500


class CachedEmbedding:
    """Another embedding with a store before it. `identity` names the model: its vectors are never mixed with another's.

    The store is one SQLite file that processes share. A store that cannot be read or written is passed over: it saves money,
    and must not cost a score.
    """

    def __init__(self, inner: Embedding, folder: Path, *, identity: str) -> None:
        self._inner = inner
        self._file = folder / "embeddings-v1.sqlite"
        self._identity = identity.encode()

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One unit vector a text, in order; only unknown texts are asked for."""
        keys = {text: hashlib.sha256(self._identity + b"\0" + text.encode("utf-8", "surrogatepass")).digest() for text in texts}
        known = self._read(keys)
        unknown = [text for text in keys if text not in known]
        if unknown:
            fresh = dict(zip(unknown, self._inner.embed(unknown), strict=True))
            self._write({keys[text]: vector for text, vector in fresh.items()})
            known.update(fresh)
        return [known[text] for text in texts]

    def _read(self, keys: Mapping[str, bytes]) -> dict[str, Sequence[float]]:
        texts = {key: text for text, key in keys.items()}
        found: dict[str, Sequence[float]] = {}
        wanted = list(texts)
        try:
            with self._open() as connection:
                for start in range(0, len(wanted), _KEYS):
                    part = wanted[start : start + _KEYS]
                    marks = ",".join("?" * len(part))
                    for key, blob in connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part):
                        found[texts[key]] = array.array("f", blob)
        except (sqlite3.Error, OSError):
            return {}
        return found

    def _write(self, vectors: Mapping[bytes, Sequence[float]]) -> None:
        rows = [(key, array.array("f", vector).tobytes()) for key, vector in vectors.items()]
        try:
            with self._open() as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except (sqlite3.Error, OSError):
            return

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._file, timeout=10)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
            yield connection
