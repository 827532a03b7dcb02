"""What a completion costs."""

from __future__ import annotations

from nl2sql_gate.settings import Prices

MILLION = 1_000_000


def cost_of(prices: Prices, tokens_in: int | None, tokens_out: int | None) -> float | None:
    """The price of one completion; none where prices or counts are missing: an unknown cost is not zero."""
    if prices.input_per_million is None or prices.output_per_million is None or tokens_in is None or tokens_out is None:
        return None
    return (tokens_in * prices.input_per_million + tokens_out * prices.output_per_million) / MILLION
