"""`brokerlab filter`: try a filter without a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import click

from controller import output
from controller.errors import UsageError
from node.core.filters import LANGS, ContentError, Filter, FilterError, parse, parse_content
from node.core.filters.attr.filter import AttrFilter
from node.core.filters.xpath.filter import XPathFilter
from node.core.filters.xpath.pattern import Step

_lang = click.option("--lang", type=click.Choice(LANGS), help="Without it: xpath if the filter begins with `/`.")


@click.group("filter")
def filter_() -> None:
    """Try filters: attribute filters such as 'price > 10', XPath patterns such as '/news//quote[@sym="IBM"]'."""


@filter_.command()
@click.argument("text", metavar="FILTER")
@click.argument("content")
@_lang
@output.format_option
def match(text: str, content: str, lang: str | None, format_: str) -> int:
    """Say whether CONTENT, a flat JSON object or an XML document, matches FILTER.

    Exit status: 0 yes, 1 no, as grep does.
    """
    wanted = _filter(text, lang)
    try:
        decoded = parse_content(content, wanted.lang)
    except ContentError as error:
        raise UsageError(f"CONTENT: {error}") from None
    return _answer("matches", wanted.matches(decoded), format_)


@filter_.command()
@click.argument("a")
@click.argument("b")
@_lang
@output.format_option
def covers(a: str, b: str, lang: str | None, format_: str) -> int:
    """Say whether filter A covers filter B: all that matches B matches A.

    Exit status: 0 yes, 1 no or not seen, as grep does.
    """
    return _answer("covers", _filter(a, lang).covers(_filter(b, lang)), format_)


@filter_.command()
@click.argument("text", metavar="FILTER")
@_lang
@output.format_option
def show(text: str, lang: str | None, format_: str) -> None:
    """Show a filter's normal form."""
    shown = _filter(text, lang)
    if format_ == "json":
        output.show_json({"filter": str(shown), "lang": shown.lang, "hash": f"{hash(shown):014x}"})
        return
    click.echo(f"{shown}\nlang {shown.lang}, hash {hash(shown):014x}")
    for line in _drawing(shown):
        click.echo(line)


def _filter(text: str, lang: str | None) -> Filter:
    try:
        return parse(text, lang or ("xpath" if text.startswith("/") else "attr"))
    except FilterError as error:
        # The error itself stays one line; the caret needs two of its own.
        output.say(error.pointer())
        raise UsageError(str(error)) from None


def _answer(question: str, is_so: bool, format_: str) -> int:
    if format_ == "json":
        output.show_json({question: is_so})
    else:
        click.echo("yes" if is_so else "no")
    return 0 if is_so else 1


def _drawing(shown: Filter) -> Iterator[str]:
    if isinstance(shown, AttrFilter):
        yield from (f"  or {each.text or 'anything'}" for each in shown.conjunctions)
    elif isinstance(shown, XPathFilter) and shown.pattern is not None:
        yield from _branch(shown.pattern, "  ")
    else:
        yield "  matches nothing"


def _branch(step: Step, indent: str) -> Iterator[str]:
    alone = Step(step.is_deep, step.name, step.attributes, step.value, ())
    yield f"{indent}{alone.path}"
    for child in step.children:
        yield from _branch(child, indent + "  ")
