"""Embeddings from an OpenAI-compatible `/embeddings` endpoint."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql_gate.errors import CredentialsError, ScorerFault
from nl2sql_gate.reply_size import ACCEPTED_ENCODINGS, MOST_VECTORS_BYTES, UnusableReply, bounded_hook

BATCH = 256
"""Texts a request; endpoints take up to 2,048, yet small batches fail small."""
MAX_CHARACTERS = 24_000
"""Characters of a text that are sent: models take 8,192 tokens, and one huge row must not fail the rest."""


class OpenAIEmbedding:
    """Texts are asked for once each, in batches; refusals and failures are retried by the client as the endpoint asks."""

    def __init__(self, model: str, *, base_url: str | None, api_key: str, retries: int = 5, timeout_s: float = 60.0) -> None:
        from openai import DefaultHttpxClient, OpenAI

        headers = {"Accept-Encoding": ACCEPTED_ENCODINGS}
        http_client = DefaultHttpxClient(headers=headers, event_hooks=bounded_hook(MOST_VECTORS_BYTES))
        self._client = OpenAI(api_key=api_key, base_url=base_url, max_retries=retries, timeout=timeout_s, http_client=http_client)
        self._model = model
        self.tokens = 0
        self.requests = 0

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One unit vector a text, in order. Raises `ScorerFault`, or `CredentialsError` where the key or the model is refused."""
        distinct = list(dict.fromkeys(texts))
        found: dict[str, Sequence[float]] = {}
        for start in range(0, len(distinct), BATCH):
            batch = distinct[start : start + BATCH]
            found.update(zip(batch, self._request(batch), strict=True))
        return [found[text] for text in texts]

    def _request(self, texts: list[str]) -> list[list[float]]:
        import openai

        # The API refuses empty texts; a blank means as little.
        sent = [text[:MAX_CHARACTERS] or " " for text in texts]
        try:
            reply = self._client.embeddings.create(model=self._model, input=sent, encoding_format="float")
        except (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError) as error:
            raise CredentialsError(
                f"the endpoint refuses embeddings by {self._model!r}",
                where=[str(error)],
                meaning="Semantic scores cannot be had.",
                next_step="Check OPENAI_API_KEY, OPENAI_BASE_URL and the model's name.",
            ) from error
        except (openai.OpenAIError, UnusableReply) as error:
            raise ScorerFault("embeddings could not be had", where=[str(error)]) from error
        self.requests += 1
        if reply.usage is not None:
            self.tokens += reply.usage.total_tokens
        if len(reply.data) != len(texts):
            raise ScorerFault(f"the endpoint sent {len(reply.data)} vectors for {len(texts)} texts")
        # Some servers answer out of order; the index says whose vector it is.
        return [unit(entry.embedding) for entry in sorted(reply.data, key=lambda entry: entry.index)]


def unit(vector: Sequence[float]) -> list[float]:
    """`vector` at length 1; a vector of zeros stays, and is similar to nothing."""
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector] if length else list(vector)
