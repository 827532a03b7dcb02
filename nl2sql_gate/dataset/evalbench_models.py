"""EvalBench's model configs as `model:` settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nl2sql_gate.dataset.evalbench_databases import Notes

_NO_EQUIVALENT = {
    "base_prompt": "goes into a prompt template of your own: model.prompt",
    "vertex_location": "is part of model.base_url",
    "redis_host": "there is no Redis; cache: keeps replies in a folder",
}
_USED = frozenset(
    {
        "generator", "vertex_model", "model", "model_name", "gcp_project_id", "gcp_region", "max_tokens", "execs_per_minute",
        "max_attempts", "temperature", "top_p",
    }
)  # fmt: skip
_AGENTS = frozenset({"gemini_cli", "claude_code", "codex", "antigravity"})


def model_settings(config: Mapping[str, Any]) -> tuple[dict[str, Any], Notes]:
    """(the `model:` section, notes). Gemini on Vertex is asked through its OpenAI-compatible endpoint."""
    notes: Notes = [(key, why) for key, why in _NO_EQUIVALENT.items() if config.get(key) is not None]
    notes += [
        (str(key), "is not known and has no equivalent") for key in config if key not in _USED and key not in _NO_EQUIVALENT
    ]
    generator = str(config.get("generator") or "")
    name = str(config.get("vertex_model") or config.get("model_name") or config.get("model") or "")
    model: dict[str, Any] = {}
    if generator == "gcp_vertex_gemini":
        region, project = (
            str(config.get("gcp_region") or "global"),
            str(config.get("gcp_project_id") or "${GOOGLE_CLOUD_PROJECT}"),
        )
        host = "aiplatform.googleapis.com" if region == "global" else f"{region}-aiplatform.googleapis.com"
        model["generator"] = "openai_chat"
        model["base_url"] = f"https://{host}/v1/projects/{project}/locations/{region}/endpoints/openapi"
        model["api_key"] = "${VERTEX_ACCESS_TOKEN}"
        name = name if not name or "/" in name else f"google/{name}"
        notes.append(
            ("generator", "asks Vertex's OpenAI-compatible endpoint; VERTEX_ACCESS_TOKEN from: gcloud auth print-access-token")
        )
    elif generator == "noop":
        model["generator"] = "replay"
        notes.append(("generator", "noop becomes replay: give recorded replies as replies:"))
    elif generator:
        kind = "an agent" if generator in _AGENTS else "a service of its own"
        notes.append(
            ("generator", f"{generator} is {kind} and has no equivalent; http_json or command ask any service or program")
        )
    if name:
        model["name"] = name
    params = {key: config[key] for key in ("max_tokens", "temperature", "top_p") if isinstance(config.get(key), int | float)}
    if params:
        model["params"] = params
    rate = config.get("execs_per_minute")
    if isinstance(rate, int | float) and rate > 0:
        model["limits"] = {"requests_per_minute": rate}
    attempts = config.get("max_attempts")
    if isinstance(attempts, int) and attempts > 0:
        model["retries"] = min(attempts - 1, 20)
    return model, notes
