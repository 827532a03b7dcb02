"""Prompts from Jinja2 templates: the packaged one, or the user's own.

A template sees `question`, `evidence`, `dialect`, `dialect_name`, `database`, `schema` (the CREATE statements as text), `tables`
(records with columns, keys, comments and samples) and `item`. Where it defines a block `system` or `user`, each block that is
not blank becomes a message; a template without these blocks becomes one user message. What it includes or extends is looked for
in its own folder. It runs in a sandbox, and a name that does not exist is an error, not an empty text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nl2sql_gate.errors import SettingsError
from nl2sql_gate.records import Item, Prompt, Schema

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment, Template

PACKAGED = Path(__file__).with_name("templates") / "prompt.j2"
ROLES = ("system", "user")
NAMES = {
    "sqlite": "SQLite",
    "duckdb": "DuckDB",
    "postgres": "PostgreSQL",
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "sqlserver": "SQL Server (T-SQL)",
    "bigquery": "BigQuery (GoogleSQL)",
    "snowflake": "Snowflake",
    "oracle": "Oracle",
}
"""Our name of a dialect → how its makers spell it."""


class PromptBuilder:
    """Prompts from one template, compiled once. Raises `SettingsError` where it cannot be read or compiled."""

    def __init__(self, template_path: str | None = None) -> None:
        path = Path(template_path) if template_path else PACKAGED
        self._shown = str(template_path or "the packaged prompt")
        with _template_errors(self._shown):
            environment = sandbox(folder=path.parent)
            self._template = environment.get_template(path.name)
            self.digest = _digest(environment, path.name)

    def build(self, item: Item, schema: Schema, dialect: str) -> Prompt:
        """The messages for one item. Raises `SettingsError` with the template's line where it fails or gives no user message."""
        variables = {
            "question": item.question,
            "evidence": item.evidence,
            "dialect": dialect,
            "dialect_name": NAMES.get(dialect, dialect),
            "database": schema.database,
            "schema": schema.ddl,
            "tables": schema.tables,
            "item": item,
        }
        with _template_errors(self._shown, item.id):
            messages = tuple(_messages(self._template, variables))
        if not any(role == "user" for role, _ in messages):
            raise SettingsError(
                "the prompt template gives nothing to send",
                where=[f"{self._shown}: item {item.id!r}"],
                meaning="The model would be asked nothing.",
                next_step="Write the question into the template, {{ question }}, in the block user where it has blocks.",
            )
        return Prompt(messages=messages, digest=self.digest)


def sandbox(*, folder: Path | None = None) -> Environment:
    """An environment for templates of users: no access to Python's insides, no change to what they are given, no silent gaps."""
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    loader: BaseLoader | None = FileSystemLoader(folder) if folder else None
    # What is rendered is text for a model or JSON through `tojson`, never HTML.
    return ImmutableSandboxedEnvironment(
        loader=loader,
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


def template_error(what: str, shown: str, error: Exception, *, item_id: str = "") -> SettingsError:
    """The `SettingsError` for an exception of a template: where it stands, and for which item it failed."""
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    if isinstance(error, TemplateNotFound):
        place, problem = shown, f"cannot be read: {error.name}"
    elif isinstance(error, TemplateSyntaxError):
        place, problem = f"{shown}:{error.lineno}", str(error.message)
    else:
        line = _template_line(error)
        place = f"{shown}:{line}" if line else shown
        problem = f"{error}" if str(error) else type(error).__name__
    return SettingsError(
        f"{what} fails",
        where=[f"{place}: {problem}" + (f" (item {item_id!r})" if item_id else "")],
        meaning="No question was asked.",
        next_step="Correct the template; docs/prompts.md lists what it may use.",
    )


@contextmanager
def _template_errors(shown: str, item_id: str = "") -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # A template may call any method of what it is given, so any exception is possible; all are the template's.
        raise template_error("the prompt template", shown, error, item_id=item_id) from error


def _template_line(error: BaseException) -> int:
    """The line of the template in which an error arose; 0 where it arose elsewhere."""
    line = 0
    trace = error.__traceback__
    while trace is not None:
        template = trace.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line


def _messages(template: Template, variables: dict[str, Any]) -> Iterator[tuple[str, str]]:
    context = template.new_context(variables)
    # Not through `render`: so a traceback keeps Jinja2's frames, and the context the blocks and variables of what it extends.
    whole = "".join(template.root_render_func(context))
    blocks = [(role, context.blocks[role][0]) for role in ROLES if role in context.blocks]
    texts = [(role, "".join(render(context))) for role, render in blocks] or [("user", whole)]
    for role, text in texts:
        if text.strip():
            yield (role, text.strip())


def _digest(environment: Environment, name: str) -> str:
    """sha256 over the source of a template and of the templates that it names."""
    from jinja2 import meta

    loader = environment.loader
    hashed, waiting, seen = sha256(), [name], {name}
    while loader and waiting:
        source, _, _ = loader.get_source(environment, waiting.pop(0))
        hashed.update(source.encode("utf-8") + b"\0")
        for found in sorted(n for n in meta.find_referenced_templates(environment.parse(source)) if n and n not in seen):
            seen.add(found)
            waiting.append(found)
    return hashed.hexdigest()
