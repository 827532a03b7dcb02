"""A model that would fail an item cannot pass by making its endpoint hang on it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from shop import QUESTIONS, Shop

MODEL = ("--set", "replies=null", "--model", "m", "--api-key", "k", "--set", "model.timeout_s=0.5", "--set", "model.retries=0")


@contextmanager
def endpoint(shop: Shop, *faults: str) -> Iterator[str]:
    """`nl2sql-gate serve` with the shop's right replies; its base URL."""
    words = [sys.executable, "-m", "nl2sql_gate", "serve", "--replies", "replies.jsonl", "--dataset", "items.json"]
    for fault in faults:
        words += ["--fault", fault]
    with subprocess.Popen(words, cwd=shop.folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("listening on ").strip()
        finally:
            process.terminate()
            process.wait(10)


def run(shop: Shop, url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    given = ("--dataset", "items.json", "--setup-directory", "setup", "--base-url", url)
    return shop.gate("run", *given, *MODEL, *arguments)


def test_hanging_on_what_would_fail_is_never_a_pass(shop: Shop) -> None:
    with endpoint(shop) as url:
        assert run(shop, url).returncode == 0
    assert shop.gate("bless", "nl2sql-gate-out/run.json", "--to", "baseline.json").returncode == 0
    codes = {}
    for count in (1, 4):
        with endpoint(shop, *(f"hang:{name}" for name in list(QUESTIONS)[-count:])) as url:
            ran = run(shop, url, "--baseline", "baseline.json", "--set", "policy.min_coverage=0")
            codes[count] = (ran.returncode, ran.stdout.partition("  ")[0])
    assert codes == {1: (3, "NO VERDICT"), 4: (3, "NO VERDICT")}
