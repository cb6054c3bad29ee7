"""`brokerlab image`: what the brokers' containers are made from."""

from __future__ import annotations

import click

from controller import progress
from controller.commands.options import with_option


@click.group()
def image() -> None:
    """Build the nodes' image."""


@image.command()
@with_option
def build(packages: tuple[str, ...]) -> None:
    """Build the image if its inputs have changed, and print its tag."""
    from controller.image import ensure_image

    click.echo(ensure_image(progress.for_stderr(), packages))
