"""Is an item a coin? Its pass rate's interval from several runs of the same system."""

from __future__ import annotations

from scipy.special import betaincinv

FEWEST_RUNS = 3


def pass_rate_interval(passes: int, runs: int, *, confidence: float = 0.9) -> tuple[float, float]:
    """Credible interval of the pass rate, Beta(½ + passes, ½ + fails) (Jeffreys), equal tails."""
    if not 0 <= passes <= runs:
        raise ValueError(f"{passes} passes of {runs} runs")
    tail = (1 - confidence) / 2
    fails = runs - passes
    low, high = betaincinv(passes + 0.5, fails + 0.5, tail), betaincinv(passes + 0.5, fails + 0.5, 1 - tail)
    return float(low), float(high)


def is_unstable(passes: int, runs: int, *, confidence: float = 0.9) -> bool:
    """Whether the pass rate may be one half, and both verdicts were seen. Fewer than three runs can call nothing unstable."""
    if runs < FEWEST_RUNS or passes in {0, runs}:
        return False
    low, high = pass_rate_interval(passes, runs, confidence=confidence)
    return low <= 0.5 <= high  # noqa: PLR2004 - the rate of a coin
