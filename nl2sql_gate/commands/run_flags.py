"""The flags of `run` and `plan`, from the one table of options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from nl2sql_gate.options import OPTIONS, Option


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a run, from the one table, and what only the command line has."""
    extra = (
        click.option("--config", metavar="FILE", help="Settings file instead of ./nl2sql-gate.yml."),
        click.option("--only", multiple=True, metavar="ID[:DIALECT]", help="Run this item only. May be repeated."),
        click.option("--shard", metavar="I/N", help="Run the I-th of N parts; `merge` joins the parts."),
        click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Any setting, e.g. policy.alpha=0.01."),
    )
    decorators: list[Callable[..., Any]] = [*extra, *(_click_option(option) for option in OPTIONS)]
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


def _click_option(option: Option) -> Callable[..., Any]:
    metavar = "PATH" if option.path else option.name.rpartition("_")[2].upper()
    return click.option(option.flag, option.name, multiple=option.many, metavar=metavar, help=option.help, default=None)
