"""Which way a service's server comes: the user's word, or the first of given, embedded, container that is there."""

from __future__ import annotations

from nl2sql_gate.errors import SettingsError


def chosen_way(name: str, way: str) -> str:
    """`given`, `embedded` or `container`. Raises `SettingsError` for a word that is none."""
    if "://" in way:
        return "given"
    word = way.partition(":")[0]
    if word in {"auto", "embedded"}:
        return "embedded"
    if word == "container":
        return "container"
    raise SettingsError(
        f"services.{name}: {way!r} is no way to a database server",
        meaning="The run did not start.",
        next_step="Use auto, embedded, container, container:<image>, or a URL.",
    )
