"""`brokerlab publish|subscribe`: a client of a running cluster, typed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
import msgspec

from controller import interrupts, output
from controller.cluster import attach, live
from controller.commands.options import cluster_option
from controller.errors import EnvironmentProblem, UsageError
from node.client import Client
from node.core.filters import LANGS, ContentError, parse_content
from node.core.records import Lang

_lang = click.option("--lang", type=click.Choice(LANGS), default="attr", show_default=True)


@click.command()
@click.argument("broker")
@click.argument("content")
@_lang
@cluster_option
def publish(broker: str, content: str, lang: Lang, cluster_name: str | None) -> None:
    """Publish one message at BROKER. CONTENT is a flat JSON object, such as '{"price": 12}', or an XML document."""
    try:
        decoded = parse_content(content, lang)
    except ContentError as error:
        raise UsageError(f"CONTENT: {error}") from None
    with _client(broker, cluster_name) as client:
        msg = client.publish(decoded, lang)
        client.flush()
        click.echo(msg)


@click.command()
@click.argument("broker")
@click.argument("filter_", metavar="FILTER")
@click.option("--count", type=click.IntRange(1), help="End after so many messages.")
@_lang
@cluster_option
def subscribe(broker: str, filter_: str, count: int | None, lang: Lang, cluster_name: str | None) -> None:
    """Print what arrives at BROKER and matches FILTER, such as 'price > 10', one JSON object per line."""
    with _client(broker, cluster_name) as client:
        client.subscribe(filter_, lang)
        output.say(f"subscribed at {broker} as {client.name}; Ctrl-C ends it")
        for number, message in enumerate(client, 1):
            shown = {"msg": message.msg, "publisher": message.publisher, "seq": message.seq, "content": message.content}
            click.echo(msgspec.json.encode(shown).decode())
            if number == count:
                break


@contextmanager
def _client(broker: str, cluster_name: str | None) -> Iterator[Client]:
    """A wrong filter or content is the user's to mend; a broker that does not answer is the machine's."""
    with attach(cluster_name) as cluster:
        cluster.topology.broker(broker)
        path = cluster.directory / live.FILE
    with interrupts.as_interrupts():
        try:
            with Client.from_cluster(path, broker) as client:
                yield client
        except TimeoutError as error:
            raise EnvironmentProblem(str(error)) from None
        except ValueError as error:
            raise UsageError(str(error)) from None
