"""The command `brokerlab`: finds the command that was asked for, and turns every error into one line and a status."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Sequence

import click

from controller import output
from controller.errors import BrokerlabError, UsageError

INTERRUPTED = 130
PIPE_CLOSED = 141

# name → (module:function, one line for `--help`); a module is imported only when its command is used.
COMMANDS: dict[str, tuple[str, str]] = {
    "up": ("controller.commands.cluster:up", "Start a cluster of brokers."),
    "down": ("controller.commands.cluster:down", "Stop a cluster."),
    "watch": ("controller.commands.watch:watch", "Watch a running cluster in the terminal."),
    "ps": ("controller.commands.ps:ps", "Show the nodes of running clusters."),
    "graph": ("controller.commands.graph:graph", "Draw a running cluster with its state and faults."),
    "logs": ("controller.commands.logs:logs", "Show what a node wrote to its log."),
    "clean": ("controller.commands.cluster:clean", "Remove everything that brokerlab left running."),
    "publish": ("controller.commands.talk:publish", "Publish one message in a running cluster."),
    "subscribe": ("controller.commands.talk:subscribe", "Subscribe in a running cluster and print what arrives."),
    "topology": ("controller.commands.topology:topology", "List and draw topologies."),
    "scheme": ("controller.commands.scheme:scheme", "List routing schemes."),
    "filter": ("controller.commands.filter:filter_", "Try filters: match, cover, normal form."),
    "fault": ("controller.commands.fault:fault", "Break and mend a running cluster."),
    "workload": ("controller.commands.workload:workload", "List workloads, and show what they make clients do."),
    "campaign": ("controller.commands.campaign:campaign", "Run experiments."),
    "audit": ("controller.commands.audit:audit", "Judge a run from its logs."),
    "report": ("controller.commands.audit:report", "Write a run's report."),
    "explain": ("controller.commands.explain:explain", "Tell why a message did or did not arrive."),
    "compare": ("controller.commands.compare:compare", "Put runs side by side."),
    "runs": ("controller.commands.runs:runs", "List runs."),
    "serve": ("controller.commands.runs:serve", "Browse runs in a browser."),
    "paper": ("controller.commands.paper:paper", "Repeat the experiments of the papers."),
    "image": ("controller.commands.image:image", "Build the nodes' image."),
}


class _LazyGroup(click.Group):
    """Knows its commands by name and help only, so `brokerlab --help` imports neither Docker nor Spark."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [name for name in COMMANDS if _is_there(COMMANDS[name][0])]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS or not _is_there(COMMANDS[name][0]):
            return None
        module, _, function = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), function)
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from controller.yamlfile import known

        name = arguments[0]
        if not name.startswith("-") and self.get_command(context, name) is None:
            raise UsageError(f"no command `{name}`; {known(name, self.list_commands(context))}")
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(context)])


def _is_there(place: str) -> bool:
    return importlib.util.find_spec(place.partition(":")[0]) is not None


def _show_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from node.version import VERSION

        click.echo(f"brokerlab {VERSION}")
        context.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
def brokerlab() -> None:
    """A laboratory for content-based routing: real brokers, controlled faults, a verdict from the logs.

    Exit status: 0 the verdict is pass, 1 a property was broken, 2 it could not be told; 64 wrong use,
    69 the machine lacks something, 70 the tool broke, 130 interrupted.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit status; a command returns its own, or None for 0."""
    given = None if arguments is None else list(arguments)
    try:
        status = brokerlab.main(args=given, prog_name="brokerlab", standalone_mode=False)
        sys.stdout.flush()
    except BrokerlabError as error:
        output.complain(str(error))
        return error.exit_status
    except click.exceptions.NoArgsIsHelpError as error:
        output.say(error.format_message())
        return UsageError.exit_status
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "brokerlab"
        output.complain(f"{error.format_message()} Type `{path} --help` for what is right.")
        return UsageError.exit_status
    except click.ClickException as error:
        output.complain(error.format_message())
        return UsageError.exit_status
    except (KeyboardInterrupt, click.Abort):
        output.complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return _pipe_closed()
    except SystemExit as leaving:
        # click and rich leave with 1 when the reader of a pipe is gone, which here means that a property was broken.
        if isinstance(leaving.__context__, BrokenPipeError):
            return _pipe_closed()
        raise
    except Exception as error:  # noqa: BLE001 - our own mistake; a traceback would exit with 1: 'a property was broken'
        traceback.print_exc()
        output.complain(f"this is a mistake in brokerlab, please report it: {type(error).__name__}: {error}")
        return BrokerlabError.exit_status
    return status if isinstance(status, int) else 0


def _pipe_closed() -> int:
    # Otherwise Python complains once more when it flushes stdout at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def main() -> None:
    sys.exit(run())


if __name__ == "__main__":
    main()
