"""What is compared, and on which grounds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller.audit.report.model import RunData
from controller.audit.report.reading import read_run
from controller.compare import kinds

# What makes two runs the same experiment, in the words of a campaign file.
GROUNDS = ("topology", "seed", "workload", "faults", "phases")
NAMING = ("scheme", "runtime", "topology", "seed", "parameters", "campaign", "log")


@dataclass(frozen=True)
class Summary:
    run: Path
    label: str
    """The shortest words that tell this run from the others."""
    data: RunData
    kinds: dict[str, int] | None
    """Messages between brokers by kind; None where the logs do not tell."""

    def sent(self, kind: str) -> int | None:
        """Messages of that kind between brokers; a kind that is not logged is not a kind that nobody sent."""
        if self.kinds is None or (kind != "publication" and not self.tells_control):
            return None
        return self.kinds.get(kind, 0)

    @property
    def tells_control(self) -> bool:
        """Whether the brokers logged more than publications; they do unless they are told otherwise."""
        return self.kinds is not None and self.data.run.get("log", "all") == "all"

    @property
    def load_t(self) -> int:
        """When the load began; runs are laid over each other there."""
        return next((phase.start_t for phase in self.data.phases if phase.name == "load"), self.data.start_t)


@dataclass(frozen=True)
class Compared:
    runs: tuple[Summary, ...]
    different: tuple[str, ...]
    """The grounds on which the runs do not agree."""
    untold: tuple[str, ...]
    """The grounds that not every run has written down."""

    @property
    def is_same_experiment(self) -> bool:
        return not self.different and not self.untold

    def grounds(self) -> str:
        """One sentence that has to be read before the numbers."""
        if self.is_same_experiment:
            return "All runs had the same topology, seed, workload, faults and phases."
        told = []
        if self.different:
            told.append(f"These runs are not the same experiment: they differ in {', '.join(self.different)}.")
        if self.untold:
            told.append(f"Not every run says what its {', '.join(self.untold)} was, so that could not be compared.")
        return " ".join(told)


def compare(runs: Sequence[Path]) -> Compared:
    """From what the audit left in each run; a thing that it could not measure is None."""
    read = [read_run(run, 0) for run in runs]
    labels = _labels(read)
    summaries = tuple(
        Summary(run, label, data, kinds.between_brokers(run, [broker.name for broker in data.brokers]))
        for run, data, label in zip(runs, read, labels, strict=True)
    )
    held = {name: [_ground(name, one) for one in summaries] for name in GROUNDS}
    return Compared(
        summaries,
        different=tuple(name for name in GROUNDS if len({text for text in held[name] if text is not None}) > 1),
        untold=tuple(name for name in GROUNDS if None in held[name]),
    )


def _ground(name: str, summary: Summary) -> str | None:
    """The topology by its shape: one name may have meant two things."""
    value: Any = summary.data.run.get(name)
    if name == "topology":
        data = summary.data
        value = [sorted(broker.name for broker in data.brokers), sorted((x.a, x.b, x.delay_ms) for x in data.links)]
        value = value if data.brokers else None
    return None if value is None else json.dumps(value, sort_keys=True)


def _labels(read: Sequence[RunData]) -> list[str]:
    telling = [name for name in NAMING if len({_word(data, name) for data in read}) > 1]
    labels = [" ".join(word for name in telling if (word := _word(data, name))) for data in read]
    if len(set(labels)) == len(labels) and all(labels):
        return labels
    names = [data.name for data in read]
    return [name if names.count(name) == 1 else f"{name} ({place})" for place, name in enumerate(names, 1)]


def _word(data: RunData, name: str) -> str:
    value = data.run.get(name)
    if value is None or value == {}:
        return ""
    if name == "seed":
        return f"seed {value}"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
