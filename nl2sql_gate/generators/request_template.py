"""Request templates of `http_json`: Jinja2 that renders to JSON, inline or in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.generators.question import TEXTS
from nl2sql_gate.prompt import sandbox, template_error

DEFAULT = """{"question": {{ question | tojson }}, "evidence": {{ evidence | tojson }}, "database": {{ database | tojson }},
"dialect": {{ dialect | tojson }}, "schema": {{ schema | tojson }}}
"""
TRYING = 'a "quoted" \\ text\nof two lines'
"""What a template is tried with before a run: text that only `tojson` brings through."""
TRIED = {**dict.fromkeys(TEXTS, TRYING), "trial": 0, "prompt": [{"role": "user", "content": TRYING}]}


class RequestTemplate:
    """One template. `given` is JSON with placeholders, or the path of a file that holds it; `digest` is its source's sha256."""

    def __init__(self, given: str | None) -> None:
        self._shown = "model.request" if given is None or "{" in given else given
        source = _source(given)
        self.digest = sha256(source.encode("utf-8")).hexdigest()
        try:
            self._template = sandbox().from_string(source)
        except Exception as error:
            # Jinja2 raises more than its own exceptions for a broken template; all are the template's.
            raise template_error("the request template", self._shown, error) from error

    def try_out(self) -> None:
        """Render it with difficult text, so that a quotation mark in some question does not end a run half-way."""
        self.render(TRIED)

    def render(self, variables: Mapping[str, Any], *, item_id: str = "") -> Any:
        """The request. Raises `SettingsError` where the template fails or its text is no JSON."""
        try:
            text = "".join(self._template.root_render_func(self._template.new_context(dict(variables))))
        except Exception as error:
            # A template may call any method of what it is given.
            raise template_error("the request template", self._shown, error, item_id=item_id) from error
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SettingsError(
                "the request template does not give JSON",
                where=[f"{self._shown}: {error}" + (f" (item {item_id!r})" if item_id else "")],
                meaning="A question with a quotation mark or a line break in it would not reach the service.",
                next_step='Pass each value through tojson, without quotes around it: {"question": {{ question | tojson }}}.',
            ) from error


def _source(given: str | None) -> str:
    if given is None:
        return DEFAULT
    if "{" in given:
        return given
    try:
        return Path(given).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SettingsError(
            "the request template cannot be read",
            where=[f"model.request: {given}: {error}"],
            meaning="No question was asked.",
            next_step="Correct the path, or write the JSON template itself.",
        ) from error
