"""`brokerlab workload`: what the clients of a run do, looked at before it runs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
import msgspec

from controller import output, parameters, workloads
from controller.campaigns import model
from controller.campaigns.model import RunSpec
from controller.errors import UsageError
from controller.progress import Progress, Silent, for_stderr
from controller.workloads import churns, moves
from controller.workloads.plans import Advertise, Plan, Publish, Subscribe
from controller.workloads.survey import covering, happening, matching, moving
from controller.workloads.survey.covering import Covering
from controller.workloads.survey.matching import Selectivity, sample
from controller.yamlfile import known

SAMPLES = 6
LETTERS_MAX = 160
TRIPS_MAX = 12
QUICK_MAX = 5_000
"""Looking at so much takes no time worth telling."""
# With a scheme that needs advertisements, so that they are shown too.
ALONE = """\
name: workload
topology: {topology}
scheme: covering-active
workload: {{kind: {kind}}}
phases: {{load_s: 20}}
"""


@click.group()
def workload() -> None:
    """List workloads, and show what they make clients do."""


@workload.command("list")
@output.format_option
def list_(format_: str) -> None:
    """List kinds of workloads, and the models of churn and movement they can be given."""
    rows: list[dict[str, Any]] = [
        {"name": name, "what": "kind", "summary": kind.summary, "parameters": parameters.described(kind.Parameters)}
        for name, kind in workloads.KINDS.items()
    ]
    for what, models in (("churn", churns.MODELS), ("moves", moves.MODELS)):
        rows += [
            {"name": name, "what": what, "summary": one.summary(), "parameters": parameters.described(one)}
            for name, one in models.items()
        ]
    output.show(rows, format_, ["name", "what", "summary"])


@workload.command()
@click.argument("name", metavar="NAME|CAMPAIGN")
@click.option("--topology", help="The overlay; tree-13 for a workload, a campaign's own for a campaign.")
@click.option("--seed", metavar="NUMBER", help="In place of the campaign's, or of 1.")
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Of a workload its own keys, such as subscriptions=50; of a campaign as in `campaign run`.",
)
@output.format_option
def show(name: str, topology: str | None, seed: str | None, settings: tuple[str, ...], format_: str) -> None:
    """Show what the workload NAME, or that of a CAMPAIGN, makes clients do, before anything runs."""
    given = output.settings(settings)
    also = {key: value for key, value in (("topology", topology), ("seed", seed)) if value is not None}
    if name in workloads.KINDS:
        given = {f"workload.{key}": value for key, value in given.items()}
        text = ALONE.format(topology="tree-13", kind=name)
        specs = model.runs(model.parse(text, name, model.DIRECTORY, {**given, **also}))
    elif name in (*churns.MODELS, *moves.MODELS) and name not in model.names():
        key = "churn" if name in churns.MODELS else "moves"
        raise UsageError(f"`{name}` is a model of {key}; show a workload with it: --set {key}='{{kind: {name}}}'")
    else:
        specs = model.runs(model.load(_campaign(name), {**given, **also}))
    told = Told(specs[0], len(specs))
    if format_ == "json":
        output.show_json(told.json())
    else:
        told.print()


def _campaign(name: str) -> str:
    is_path = "/" in name or name.endswith((".yaml", ".yml"))
    if not is_path and name not in model.names():
        told = known(name, [*workloads.names(), *model.names()])
        raise UsageError(f"no workload or campaign `{name}`; {told}; or give a path to a campaign file")
    return name


class Told:
    """One run's plan in words and numbers."""

    def __init__(self, spec: RunSpec, runs: int) -> None:
        self._spec = spec
        self._runs = runs
        size = spec.workload.subscriptions + spec.workload.publication_count
        progress: Progress = for_stderr() if size > QUICK_MAX else Silent()
        with progress.bar("planning"):
            self._plan: Plan = spec.plan()
        self._happening = happening.rows(self._plan)
        self._selectivity = matching.selectivity(self._plan, progress)
        self._covering = covering.covering(self._plan, progress)
        self._trips = moving.trips(self._plan)

    def json(self) -> dict[str, Any]:
        return {
            "workload": self._spec.workload,
            "topology": self._spec.topology.name,
            "seed": self._spec.seed,
            "clients": len(self._plan.clients),
            "operations": self._happening,
            "samples": self._samples(SAMPLES),
            "selectivity": self._selectivity,
            "covering": self._covering,
            "moves": self._trips,
        }

    def print(self) -> None:
        spec = self._spec
        kind = workloads.KINDS[spec.workload.kind]
        of = f" (the first of {self._runs} runs)" if self._runs > 1 else ""
        click.echo(f"{kind.name}: {kind.summary}")
        brokers, clients = len(spec.topology.brokers), len(self._plan.clients)
        click.echo(f"on {spec.topology.name}, {brokers} brokers, {clients} clients, seed {spec.seed}{of}")
        _title("parameters")
        output.show(_parameters(spec), "table", ["name", "value", "range", "meaning"])
        if models := _models(spec):
            _title("who changes, comes, goes and moves")
            output.show(models, "table", ["model", "name", "value", "range", "meaning"])
        _title("operations over time")
        output.show(
            [{**msgspec.structs.asdict(row), "over_time": row.sparkline} for row in self._happening],
            "table",
            ["phase", "operation", "count", "seconds", "over_time"],
        )
        for what, texts in self._samples(SAMPLES).items():
            _title(f"{what}, for example")
            for text in texts:
                click.echo(f"  {text if len(text) <= LETTERS_MAX else text[: LETTERS_MAX - 1] + '…'}")
        if self._selectivity is not None:
            _title("how much matches")
            output.show(_selectivity(self._selectivity), "table")
            click.echo(_classes(self._selectivity))
        if self._covering is not None:
            _title("what covers what")
            output.show(_covering(self._covering), "table")
        if self._trips:
            _title("who goes where")
            output.show(self._journeys(), "table")

    def _samples(self, many: int) -> dict[str, list[str]]:
        asked = [one.filter for one in self._plan.operations if isinstance(one, Subscribe)]
        advertised = [one.filter for one in self._plan.operations if isinstance(one, Advertise)]
        said = [one.content for one in self._plan.operations if isinstance(one, Publish)]
        texts = [one if isinstance(one, str) else msgspec.json.encode(one).decode() for one in sample(said, many)]
        told = {"filters": sample(asked, many), "advertisements": sample(advertised, many), "contents": texts}
        return {what: found for what, found in told.items() if found}

    def _journeys(self) -> list[dict[str, Any]]:
        """The way most often gone comes first."""
        times: dict[tuple[str, str], list[float]] = {}
        for trip in self._trips:
            times.setdefault((trip.left, trip.reached), []).append(trip.at_s)
        counted = Counter({way: len(found) for way, found in times.items()}).most_common()
        rows: list[dict[str, Any]] = [
            {"from": left, "to": reached, "times": count, "first_at_s": min(times[left, reached])}
            for (left, reached), count in counted[:TRIPS_MAX]
        ]
        if others := counted[TRIPS_MAX:]:
            rows.append({"from": "others", "to": f"{len(others)} ways", "times": sum(count for _, count in others)})
        movers = len({trip.client for trip in self._trips})
        click.echo(f"{movers} clients make {len(self._trips)} trips")
        return rows


def _title(text: str) -> None:
    click.echo(f"\n{text}")


def _parameters(spec: RunSpec) -> list[dict[str, Any]]:
    rows = []
    for one in parameters.described(type(spec.workload)):
        if one["name"] == "kind":
            continue
        value = getattr(spec.workload, one["name"])
        told = msgspec.to_builtins(value)
        if isinstance(told, dict | list):
            told = _named(value)
        rows.append({**one, "value": told, "range": parameters.told_range(one)})
    return rows


def _named(value: Any) -> str:
    """Models and laws by their names; what they are told has a table of its own."""
    parts = value if isinstance(value, list) else [value]
    return ", ".join(
        str(part.__struct_config__.tag) if isinstance(part, msgspec.Struct) else msgspec.json.encode(part).decode()
        for part in parts
    )


def _models(spec: RunSpec) -> list[dict[str, Any]]:
    return [
        {"model": model.name(), **one, "value": getattr(model, one["name"]), "range": parameters.told_range(one)}
        for model in spec.workload.models
        for one in parameters.described(type(model))
    ]


def _selectivity(one: Selectivity) -> list[dict[str, Any]]:
    of = f"{one.subscriptions} subscriptions × {one.publications} publications"
    if one.is_sample:
        of += f", a sample of {one.of_subscriptions} × {one.of_publications}"
    return [
        {"what": "pairs that match", "value": f"{one.share:.2%}", "of": of},
        {
            "what": "publications that a subscription matches",
            "value": " / ".join(f"{share:.1%}" for share in one.quantiles),
            "of": "least / quarter / middle / three quarters / most",
        },
        {
            "what": "subscriptions that match a publication",
            "value": " / ".join(map(str, one.wanted_by)),
            "of": "likewise",
        },
    ]


def _classes(one: Selectivity) -> str:
    names = ["nothing", *(f"up to {edge:.1%}".replace(".0%", "%") for edge in matching.EDGES[1:])]
    told = ", ".join(f"{name} {count}" for name, count in zip(names, one.classes, strict=True))
    return f"subscriptions by the share they match: {happening.sparkline(one.classes)}  {told}"


def _covering(one: Covering) -> list[dict[str, Any]]:
    of = f"{one.looked_at} filters" + (f", a sample of {one.distinct}" if one.is_sample else "")
    return [
        {"what": "different filters", "value": one.distinct, "of": f"{one.subscriptions} subscriptions"},
        {"what": "covered by another", "value": f"{one.covered} ({one.covered / one.looked_at:.0%})", "of": of},
        {"what": "longest chain", "value": one.depth, "of": " > ".join(map(_short, one.chain))},
        {"what": "most covered by one", "value": one.width, "of": _short(one.widest)},
    ]


def _short(text: str) -> str:
    return text if len(text) <= LETTERS_MAX // 3 else text[: LETTERS_MAX // 3 - 1] + "…"
