"""The command line: the only place that turns errors into messages and exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence

import click

from nl2sql_gate import __version__
from nl2sql_gate.errors import GateError

INTERRUPTED = 130
BUG = 4
USAGE = 2

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("nl2sql_gate.commands.init:command", "Look at the repository, and write settings and a workflow."),
    "run": ("nl2sql_gate.commands.run:command", "Ask, run, score, compare, decide, report: the whole gate."),
    "check": ("nl2sql_gate.commands.check:command", "Audit the dataset; no model is called."),
    "import": ("nl2sql_gate.commands.import_:command", "Turn another form of dataset, predictions or configs into ours."),
    "export": ("nl2sql_gate.commands.export:command", "Write the dataset in EvalBench's or BIRD's form."),
    "fmt": ("nl2sql_gate.commands.fmt:command", "Write the dataset as canonical JSON."),
    "mutate": ("nl2sql_gate.commands.mutate:command", "Mutate golden SQL; name the items whose data shows no difference."),
    "sensitivity": ("nl2sql_gate.commands.sensitivity:command", "Show how much each metric sees of each kind of error."),
    "plan": ("nl2sql_gate.commands.plan:command", "Say what a run would do, ask and cost; nothing is started."),
    "compare": ("nl2sql_gate.commands.compare:command", "Compare two runs and decide."),
    "report": ("nl2sql_gate.commands.report:command", "Render the report of a run again."),
    "rescore": ("nl2sql_gate.commands.rescore:command", "Score stored SQL as today's scorers and databases do."),
    "calibrate": ("nl2sql_gate.commands.calibrate:command", "Measure the noise of the same build asked several times."),
    "bless": ("nl2sql_gate.commands.bless:command", "Make a run the baseline."),
    "baseline": ("nl2sql_gate.commands.baseline:command", "Show, fetch or push the baseline."),
    "merge": ("nl2sql_gate.commands.merge:command", "Join the shards of a run, then decide and report once."),
    "post": ("nl2sql_gate.commands.post:command", "Comment on the pull request of a fork, whose own run may not."),
    "serve": ("nl2sql_gate.commands.serve:command", "Answer like a model endpoint, from recorded replies."),
}
"""Command → where it lives, and its line in --help. Commands are imported when they run, so that --help answers at once."""


class LazyGroup(click.Group):
    """A group whose commands are imported only when one of them is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The commands in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command called `cmd_name`."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        if not isinstance(command, click.Command):
            raise TypeError(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, naming the nearest command where there is none."""
        import difflib

        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            ctx.fail(f"No such command {name!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="nl2sql-gate")
def gate() -> None:
    """Stops a pull request from making your natural-language-to-SQL worse.

    Exit codes: 0 pass, 1 fail, 2 usage, 3 no verdict, 4 a bug of ours, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the code of `docs/exit-codes.md`."""
    sys.exit(guarded(lambda: exit_code(arguments)))


def guarded(job: Callable[[], int]) -> int:
    """What `job` returns, whatever becomes of standard output and of the telling of errors."""
    import signal

    try:
        from nl2sql_gate.interrupts import as_interrupt
        from nl2sql_gate.streams import make_lasting

        # A runner cancels a job by SIGTERM, and it may do so before a command is even loaded.
        signal.signal(signal.SIGTERM, as_interrupt)
        make_lasting()
        return job()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - while an error was told; Python would exit 1, and 1 means that the gate closed
        sys.stderr.write(f"error: a bug in nl2sql-gate {__version__}: {type(error).__name__}\n")
        return BUG
    finally:
        # All is said and done: a signal now would only put its own code in the place of this one.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # An interrupt that went through an exec of text, as dataclasses do at import, is remembered by the interpreter as one
        # that nobody caught, and `python -m` would end by it, whatever is returned here; the next text forgets it.
        exec("")  # noqa: S102 -- no text at all


def exit_code(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code instead of an exit."""
    from nl2sql_gate.github.redaction import Redactor, environment_secrets

    # Commands add the secrets that they meet, so that no message can show one.
    redactor = Redactor(environment_secrets(os.environ))
    try:
        os.getcwd()  # noqa: PTH109 - whether it is there, not what it is
    except OSError as error:
        _say(f"error: the working directory is gone: {error.strerror}\n  The run did not start.\n  Go to a folder that is there.")
        return USAGE
    try:
        outcome = gate.main(arguments, prog_name="nl2sql-gate", standalone_mode=False, obj=redactor)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _say("error: interrupted\n  Replies that had come are kept; the same command goes on from there.")
        if os.environ.get("GITHUB_ACTIONS") == "true":
            from nl2sql_gate.commands.publish import publish_cancelled

            publish_cancelled()
        return INTERRUPTED
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        _say(redactor(_usage(error)))
        return USAGE
    except GateError as error:
        _say(redactor(f"error: {error}"))
        if os.environ.get("GITHUB_ACTIONS") == "true":
            from nl2sql_gate.commands.publish import publish_error

            publish_error(error, redactor)
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - Python would exit 1 here, and 1 means that the gate closed
        _say(redactor(_bug(error)))
        return BUG
    return outcome if isinstance(outcome, int) else 0


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "nl2sql-gate"
    return f"error: {error.format_message()}\n  The run did not start.\n  See: {path} --help"


def _bug(error: Exception) -> str:
    import traceback
    from pathlib import Path

    whole = "".join(traceback.format_exception(error)) if os.environ.get("NL2SQL_GATE_TRACEBACK") else ""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{whole}error: a bug in nl2sql-gate {__version__}: {type(error).__name__}: {error}\n"
        f"  at {Path(last.filename).name}:{last.lineno} in {last.name}\n"
        "  This says nothing about your change; no verdict was reached.\n"
        "  Please report it, with NL2SQL_GATE_TRACEBACK=1 set for the whole traceback."
    )


def _say(text: str) -> None:
    from nl2sql_gate.github.untrusted import visible

    # What a database or an endpoint said stands in these messages: no control characters, no workflow commands.
    lines = [visible(line) for line in text.splitlines()]
    click.echo("\n".join(line.replace("::", ":\u200b:") if line.lstrip().startswith("::") else line for line in lines), err=True)


if __name__ == "__main__":
    main()
