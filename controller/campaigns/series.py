"""A series: all runs of one campaign command, and how far each has come; readable whenever its controller dies."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from controller.campaigns import model, store
from controller.campaigns.model import RunSpec
from controller.cluster import facts, files
from controller.errors import UsageError

FILE = "series.json"
SUFFIX = "series"

State = Literal["waiting", "running", "done"]


class Entry(Struct):
    """One run of the series."""

    number: int
    labels: dict[str, str]
    """What the matrix chose, in a word each; without a matrix the seed."""
    digest: str
    """Of everything that was settled for it: a run must not become another one between two sessions."""
    choices: dict[str, Any] = {}
    state: State = "waiting"
    cluster: str | None = None
    directory: str | None = None
    """Its name beside the series."""
    outcome: str | None = None
    outcome_why: str = ""
    verdict: str | None = None
    violations: int | None = None

    @property
    def label(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.labels.items())


class Record(Struct, kw_only=True):
    """`series.json`."""

    campaign: str
    file: str
    """As it was typed."""
    folder: str
    text: str
    """The campaign file as it was read."""
    overrides: dict[str, str]
    runtime: str
    packages: list[str]
    is_audited: bool
    started: str
    commit: str | None
    runs: list[Entry]


class Series:
    def __init__(self, directory: Path, record: Record) -> None:
        self.directory = directory
        self.record = record

    @property
    def runs(self) -> list[Entry]:
        return self.record.runs

    @property
    def is_finished(self) -> bool:
        return all(one.state == "done" and (one.verdict or not self.record.is_audited) for one in self.runs)

    def save(self) -> None:
        files.write_json(self.directory / FILE, self.record)

    def run_directory(self, entry: Entry) -> Path:
        if entry.directory is None:
            raise ValueError(f"run {entry.number} has not begun")
        return self.directory.parent / entry.directory

    def begin(self, entry: Entry, cluster: str, directory: Path) -> None:
        """Written before anything is started, so that what a killed controller leaves can be found by name."""
        entry.state, entry.cluster, entry.directory = "running", cluster, directory.name
        entry.outcome, entry.outcome_why, entry.verdict, entry.violations = None, "", None, None
        self.save()

    def ended(self, entry: Entry, outcome: str, why: str) -> None:
        """An interrupted run is to be repeated."""
        entry.state = "waiting" if outcome == "interrupted" else "done"
        entry.outcome, entry.outcome_why = outcome, why
        self.save()

    def judged(self, entry: Entry, verdict: str, violations: int | None) -> None:
        entry.verdict, entry.violations = verdict, violations
        self.save()

    def choose_directory(self, spec: RunSpec) -> Path:
        taken = [one.directory for one in self.runs if one.directory is not None]
        return store.choose_directory(spec.campaign, spec.seed, self.directory.parent, taken=taken)

    def specs(self) -> list[RunSpec]:
        """What the runs are, from the text that was kept; refused if anything outside of it has changed them."""
        record = self.record
        campaign = model.parse(record.text, record.file, Path(record.folder), record.overrides)
        specs = model.runs(campaign)
        changed = [one.number for one, spec in zip(self.runs, specs, strict=False) if one.digest != digest(spec)]
        if changed or len(specs) != len(self.runs):
            which = f"run {changed[0]}" if changed else "the number of runs"
            raise UsageError(
                f"{which} is not what it was when {self.directory.name} began: its topology file or brokerlab itself "
                "has changed; start the campaign anew"
            )
        return specs

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Held by the controller that works on it, and given back however that one ends."""
        with (self.directory / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"{self.directory.name} is still being worked on; wait for it, or stop it") from None
            yield


def create(
    file: str, overrides: dict[str, str], runtime: str, packages: Sequence[str], is_audited: bool
) -> tuple[Series, list[RunSpec]]:
    """The runs that the campaign stands for; nothing is written yet."""
    path = model.find(file)
    campaign = model.load(file, overrides)
    specs = model.runs(campaign)
    record = Record(
        campaign=campaign.name,
        file=file,
        folder=str(path.parent.resolve()),
        text=path.read_text(),
        overrides=overrides,
        runtime=runtime,
        packages=list(packages),
        is_audited=is_audited,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=facts.commit(),
        runs=[
            Entry(
                number=number,
                labels=spec.labels or {"seed": str(spec.seed)},
                digest=digest(spec),
                choices=spec.choices,
            )
            for number, spec in enumerate(specs, 1)
        ],
    )
    return Series(store.choose_directory(campaign.name, SUFFIX), record), specs


def write_new(series: Series) -> None:
    series.directory.mkdir(parents=True)
    series.save()


def digest(spec: RunSpec) -> str:
    return hashlib.sha256(msgspec.json.encode(spec)).hexdigest()[:16]


def read(directory: Path) -> Series:
    try:
        return Series(directory, msgspec.json.decode((directory / FILE).read_bytes(), type=Record))
    except OSError as error:
        raise UsageError(f"{directory} is no series: {FILE}: {error.strerror}; see runs/*-{SUFFIX}") from None
    except msgspec.MsgspecError as error:
        raise UsageError(f"{directory / FILE} cannot be read: {error}") from None


def find_unfinished() -> Series:
    """The latest one that nobody works on."""
    found = []
    for path in store.ROOT.absolute().glob(f"*-{SUFFIX}*/{FILE}"):
        series = read(path.parent)
        with suppress(UsageError), series.locked():
            if not series.is_finished:
                found.append(series)
    if not found:
        raise UsageError(f"no unfinished series in {store.ROOT}; `brokerlab campaign run` begins one")
    return max(found, key=lambda one: (one.record.started, (one.directory / FILE).stat().st_mtime))
