"""An embedding that embeds each text once: mutants of one query share nearly all their rows and columns."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from nl2sql_gate.protocols import Embedding


class Remembered:
    """Vectors of `inner`, kept in memory by text. Safe to share among threads."""

    def __init__(self, inner: Embedding) -> None:
        self._inner = inner
        self._known: dict[str, Sequence[float]] = {}
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One unit vector a text, in order."""
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._known]
            if missing:
                self._known.update(zip(missing, self._inner.embed(missing), strict=True))
            return [self._known[text] for text in texts]
