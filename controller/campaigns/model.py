"""Campaign files: what a person writes, and the runs it stands for, each with everything settled."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field

import controller
from controller import topology as topologies
from controller import workloads, yamlfile
from controller.campaigns import matrix, timetable
from controller.campaigns.settled import Phases, SettledRun
from controller.errors import UsageError
from controller.sim.settings import Settings
from controller.topology import Topology
from controller.topology.generators import GENERATORS
from controller.workloads import Workload
from controller.workloads.plans import Plan
from controller.yamlfile import Document, Step, known
from node.core.schemes import registry
from node.core.schemes.base import Scheme
from node.journal import Level

DIRECTORY = Path(controller.__file__).resolve().parent / "campaigns" / "files"
RUNS_MAX = 10_000

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_FIXED = ("name", "description", "matrix")


class RawCampaign(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    topology: str | dict[str, Any]
    """A name in `topologies/`, a path, or `{generate: transit-stub, seed: 7, transits: 4, …}`."""
    scheme: str
    workload: dict[str, Any]
    phases: Phases
    description: str = ""
    parameters: dict[str, Any] = {}
    faults: list[dict[str, Any]] = []
    seed: Annotated[int, Meta(ge=0, le=2**53)] = 1
    log: Level = "all"
    sim: Settings = Settings()
    matrix: dict[str, Annotated[list[Any], Meta(min_length=1)] | Annotated[dict[str, Any], Meta(min_length=1)]] = {}
    """Key → values: a list, `{from: 1, to: 20}` for whole numbers, or alternatives by name `{calm: …, rough: …}`."""


class RunSpec(SettledRun, frozen=True, kw_only=True):
    """A run that a campaign file stands for."""

    workload: Workload
    choices: dict[str, Any]
    """What the matrix chose for this run."""
    labels: dict[str, str] = field(default_factory=dict)
    """The same in a word each, for people."""

    def plan(self) -> Plan:
        needs_advertisements = "advertisements" in registry.find(self.scheme).needs
        return workloads.plan(self.workload, self.topology, self.seed, needs_advertisements)

    @property
    def experiment(self) -> dict[str, Any]:
        return {"workload": self.workload, "faults": self.faults, "phases": self.phases}


class Campaign:
    """A campaign file that was read; `runs` says what it stands for."""

    def __init__(self, document: Document, folder: Path) -> None:
        self.document = document
        self.folder = folder
        raw = document.convert(RawCampaign)
        if not _NAME.fullmatch(raw.name):
            what = f"`{raw.name}` cannot name a campaign; use small letters, digits and `-`, 40 at most"
            raise document.problem(["name"], what)
        self.name = raw.name
        self.description = raw.description
        self.matrix = {key: matrix.values(document, key) for key in raw.matrix}


def names() -> list[str]:
    return sorted(path.stem for path in DIRECTORY.glob("*.yaml"))


def find(name_or_path: str | Path) -> Path:
    """Of a name among the ready ones, or of a path."""
    text = str(name_or_path)
    if "/" in text or text.endswith((".yaml", ".yml")):
        return Path(text)
    if text in names():
        return DIRECTORY / f"{text}.yaml"
    raise UsageError(f"no campaign `{text}`; {known(text, names())}; or give a path to a .yaml file")


def load(name_or_path: str | Path, overrides: Mapping[str, str] | None = None) -> Campaign:
    """Overrides are dotted keys (`workload.rate_hz`) with YAML values."""
    path = find(name_or_path)
    return _campaign(yamlfile.read(path), path.parent, overrides or {})


def parse(text: str, source: str, folder: Path, overrides: Mapping[str, str]) -> Campaign:
    """A campaign whose file was read before, and may have changed since."""
    return _campaign(yamlfile.parse(text, source), folder, overrides)


def _campaign(document: Document, folder: Path, overrides: Mapping[str, str]) -> Campaign:
    for key, value in overrides.items():
        document = _overridden(document, key, value)
    return Campaign(document, folder)


def runs(campaign: Campaign) -> list[RunSpec]:
    """Every combination of the matrix's values; one run if there is no matrix."""
    for key in campaign.matrix:
        if key.partition(".")[0] in _FIXED or key.partition(".")[0] not in RawCampaign.__struct_fields__:
            told = known(key, [field for field in RawCampaign.__struct_fields__ if field not in _FIXED])
            raise campaign.document.problem(["matrix", key], f"`{key}` cannot be varied; {told}")
    sizes = [range(len(values)) for values in campaign.matrix.values()]
    combinations = list(itertools.islice(itertools.product(*sizes), RUNS_MAX + 1))
    if len(combinations) > RUNS_MAX:
        raise campaign.document.problem(["matrix"], f"more than {RUNS_MAX} runs; give fewer values")
    return [_run(campaign, dict(zip(campaign.matrix, indexes, strict=True))) for indexes in combinations]


def _overridden(document: Document, key: str, value: str) -> Document:
    given = yamlfile.parse(value, f"{key}={value}")
    if key == "topology" and isinstance(given.data, str) and _is_path(given.data):
        given = yamlfile.parse(str(Path(given.data).resolve()), f"{key}={value}")
    first, _, rest = key.partition(".")
    changed = document.grafted(["matrix", rest] if first == "matrix" and rest else key.split("."), given)
    varied = changed.part(["matrix"]).data
    if isinstance(varied, dict) and key in varied:
        return changed.grafted(["matrix"], changed.part(["matrix"]).without(key))
    return changed


def _run(campaign: Campaign, indexes: dict[str, int]) -> RunSpec:
    document = campaign.document
    chosen = {key: campaign.matrix[key][index] for key, index in indexes.items()}
    for key, choice in chosen.items():
        document = document.grafted(key.split("."), choice.document)
    raw = document.convert(RawCampaign)
    scheme = _scheme(document, raw.scheme)
    topology = _topology(document, raw.topology, campaign.folder)
    document.part(["parameters"]).convert(scheme.Parameters)
    workload = _workload(document, raw)

    @cache
    def clients() -> tuple[str, ...]:
        needs_advertisements = "advertisements" in scheme.needs
        return workloads.plan(workload, topology, raw.seed, needs_advertisements).residents

    faults = document.part(["faults"])
    return RunSpec(
        campaign=raw.name,
        description=raw.description,
        topology=topology,
        scheme=raw.scheme,
        parameters=raw.parameters,
        workload=workload,
        faults=timetable.events(faults, topology, raw.seed, raw.phases.load_s, clients) if raw.faults else (),
        phases=raw.phases,
        seed=raw.seed,
        log=raw.log,
        sim=raw.sim,
        choices={key: choice.document.data for key, choice in chosen.items()},
        labels={key: choice.label for key, choice in chosen.items()},
    )


def _scheme(document: Document, name: str) -> type[Scheme]:
    try:
        return registry.find(name)
    except registry.UnknownScheme as error:
        told = str(error) if ":" in name else f"no scheme `{name}`; {known(name, registry.names())}"
        raise document.problem(["scheme"], told) from None


def _topology(document: Document, name: str | dict[str, Any], folder: Path) -> Topology:
    if isinstance(name, dict):
        return _generated(document)
    if _is_path(name):
        return topologies.load(folder / name)
    try:
        return topologies.load(name)
    except UsageError as error:
        raise document.problem(["topology"], str(error)) from None


def _generated(document: Document) -> Topology:
    given = document.part(["topology"])
    name = given.data.get("generate")
    if name not in GENERATORS:
        raise given.problem(["generate"], f"no generator `{name}`; {known(str(name), GENERATORS)}")
    parameters = given.without("generate").convert(GENERATORS[name].Parameters)
    try:
        return GENERATORS[name].make(parameters)
    except UsageError as error:
        raise given.problem([], str(error)) from None


def _workload(document: Document, raw: RawCampaign) -> Workload:
    kind = raw.workload.get("kind")
    if kind not in workloads.KINDS:
        path: list[Step] = ["workload", "kind"]
        raise document.problem(path, f"no workload kind `{kind}`; {known(str(kind), workloads.names())}")
    workload = document.part(["workload"]).convert(workloads.KINDS[kind].Parameters)
    load_s = raw.phases.load_s
    try:
        workload.check(load_s)
    except UsageError as error:
        raise document.problem(["workload"], str(error)) from None
    try:
        return workload.fitted(load_s)
    except UsageError as error:
        raise document.problem(["workload", "publications"], str(error)) from None


def _is_path(text: str) -> bool:
    return "/" in text or text.endswith((".yaml", ".yml"))


def listed() -> Iterator[Campaign]:
    """The ready campaigns."""
    return (load(name) for name in names())
