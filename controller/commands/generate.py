"""`brokerlab topology generate`: a command for each generator, its options taken from the generator's parameters."""

from __future__ import annotations

import math
import types
import typing
from pathlib import Path
from typing import Annotated, Any, Literal, Union

import click
import msgspec
from msgspec import Meta

from controller import output
from controller.errors import UsageError
from controller.topology import generators, writing
from controller.topology.generators import Generator


@click.group()
def generate() -> None:
    """Generate a topology as YAML."""


def command(generator: Generator) -> click.Command:
    def run(output_file: str | None, **given: Any) -> None:
        parameters = generator.Parameters(**given)
        made = generator.make(parameters)
        text = writing.to_yaml(made, f"brokerlab topology generate {_words(generator, parameters)}")
        deliver(text, output_file, made.description)

    options: list[click.Parameter] = [
        _option(generator, field) for field in msgspec.structs.fields(generator.Parameters)
    ]
    options.append(click.Option(["--output", "output_file"], metavar="FILE.yaml", help="Standard output if left out."))
    return click.Command(generator.name, params=options, callback=run, help=f"Make {generator.summary}.")


def deliver(text: str, output_file: str | None, told: str) -> None:
    if output_file is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output_file).write_text(text)
    except OSError as error:
        raise UsageError(f"{output_file} cannot be written: {error.strerror}; name another file") from None
    output.say(f"{output_file}: {told}")


def _words(generator: Generator, parameters: generators.Parameters) -> str:
    """What makes the same again: everything that is not the default, and the seed."""
    said = msgspec.structs.asdict(parameters)
    usual = msgspec.structs.asdict(generator.Parameters())
    differing = [f"--{_dashed(name)} {value}" for name, value in said.items() if name == "seed" or value != usual[name]]
    return " ".join([generator.name, *differing])


def _option(generator: Generator, field: msgspec.structs.FieldInfo) -> click.Option:
    kind = typing.get_type_hints(generator.Parameters, include_extras=True)[field.encode_name]
    metas = _metas(kind)
    told = next(meta.description for meta in metas if meta.description is not None)
    name = f"--{_dashed(field.encode_name)}"
    return click.Option([name], type=_type(kind, metas), default=field.default, show_default=True, help=told)


def _type(kind: Any, metas: list[Meta]) -> click.ParamType[Any]:
    words = [word for plain in _plain(kind) if typing.get_origin(plain) is Literal for word in typing.get_args(plain)]
    if words:
        return click.Choice(words)
    least = next(meta.ge for meta in metas if meta.ge is not None)
    most = next(meta.le for meta in metas if meta.le is not None)
    return click.IntRange(int(least), int(most)) if float not in _plain(kind) else _Number(least, most)


class _Number(click.FloatRange):
    """Whole numbers stay whole, so that files say `1` and not `1.0`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number that can be used", param, ctx)
        return int(number) if number == int(number) else number


FINITE = _Number(0, 3_600_000)


def _metas(kind: Any) -> list[Meta]:
    inner = [meta for part in typing.get_args(kind) for meta in _metas(part)]
    own = [one for one in getattr(kind, "__metadata__", ()) if isinstance(one, Meta)]
    return [*own, *inner]


def _plain(kind: Any) -> set[Any]:
    if typing.get_origin(kind) is Annotated:
        return _plain(typing.get_args(kind)[0])
    if typing.get_origin(kind) in (Union, types.UnionType):
        return {plain for part in typing.get_args(kind) for plain in _plain(part)}
    return {kind}


def _dashed(name: str) -> str:
    return name.replace("_", "-")


for _one in generators.GENERATORS.values():
    generate.add_command(command(_one))
