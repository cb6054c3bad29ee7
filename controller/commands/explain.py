"""`brokerlab explain`: the way of one message."""

from __future__ import annotations

import click
import msgspec

from controller import output
from controller.campaigns import store


@click.command()
@click.argument("run")
@click.argument("message")
@click.argument("subscription", required=False)
@output.format_option
def explain(run: str, message: str, subscription: str | None, format_: str) -> None:
    """Tell hop by hop why MESSAGE of RUN did or did not reach SUBSCRIPTION, or all that it concerns.

    A message is called PUBLISHER:NUMBER, as in the log.
    """
    from controller.explain import lines, tell

    story = tell(store.find_run(run), message, subscription)
    if format_ == "json":
        output.show_json(msgspec.to_builtins(story))
        return
    for line in lines(story):
        click.echo(line)
