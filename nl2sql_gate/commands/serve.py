"""`nl2sql-gate serve`: a model endpoint on loopback that answers from recorded replies."""

from __future__ import annotations

import click


@click.command("serve", help="Answer like an OpenAI-compatible endpoint on loopback, from recorded replies.")
@click.option("--replies", required=True, metavar="FILE", help="Recorded replies, JSON lines.")
@click.option("--dataset", metavar="FILE", help="Dataset whose questions tell requests of other clients apart.")
@click.option("--port", default=0, show_default=True, help="Port on 127.0.0.1; 0 takes a free one.")
@click.option("--latency-ms", default=0.0, show_default=True, help="Latency of every answer.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="KIND:SHARE|ID",
    help="429, 500, hang, reset, empty, cut-off, endless or bomb for a share or an id pattern.",
)
@click.option("--model", default="recorded", show_default=True, help="The model's name that the endpoint claims.")
@click.option("--seed", default=0, show_default=True, help="Which requests meet a fault.")
def command(
    *, replies: str, dataset: str | None, port: int, latency_ms: float, faults: tuple[str, ...], model: str, seed: int
) -> None:
    """Serve until interrupted."""
    from nl2sql_gate import serve

    serve.run(serve.Options(replies, dataset, port, latency_ms, faults, model, seed))
