"""Carries out what is not done of a series, judges it, and keeps the series' record true at every moment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from controller import interrupts, runtimes
from controller.campaigns import board, run, store, workers
from controller.campaigns.model import RunSpec
from controller.campaigns.series import Entry, Series
from controller.campaigns.workers import Ended, Heard, Job
from controller.commands.auditor import Auditor
from controller.commands.options import with_words
from controller.errors import BrokerlabError
from controller.sim.settings import RUNTIME as SIM

if TYPE_CHECKING:
    from controller.audit.verdict import Verdict

LEFT_BEHIND = "the controller was killed"


class Conductor:
    def __init__(
        self, series: Series, specs: Sequence[RunSpec], spark_master: str | None = None, jobs: int | None = None
    ) -> None:
        self._series = series
        self._specs = specs
        self._jobs = jobs or os.cpu_count() or 1
        self._board = board.for_series(series)
        self._auditor = Auditor(spark_master, self._on_verdict)
        self._entry_of: dict[Path, Entry] = {}
        self.clusters: list[str] = []
        """Those that were left running."""

    def carry_out(self, keep: bool = False) -> None:
        """Everything that is not done; whatever is raised, the series' record says how far it came."""
        todo = [entry for entry in self._series.runs if entry.state != "done"]
        with interrupts.as_interrupts(), self._series.locked(), self._board.shown():
            try:
                for entry in self._series.runs:
                    if entry.state == "done" and entry.verdict is None:
                        self._judge(entry)
                if self._series.record.runtime == SIM and len(todo) > 1 and self._jobs > 1:
                    self._beside_each_other(todo)
                else:
                    self._one_after_the_other(todo, keep)
                self._auditor.wait()
            finally:
                self._auditor.close()

    def _one_after_the_other(self, todo: Sequence[Entry], keep: bool) -> None:
        for entry in todo:
            job = self._begun(entry)
            try:
                ran = run.carry_out(job.run, job.spec(), self._board.progress(entry), keep)
            except BrokerlabError as error:
                # What is wrong with the machine or the file is wrong with every run.
                if len(self._series.runs) == 1 or type(error) is not BrokerlabError:
                    self._series.ended(entry, "interrupted", str(error))
                    raise
                self._ended(entry, "unknown", str(error))
            except BaseException:
                self._series.ended(entry, "interrupted", "")
                raise
            else:
                self.clusters += [ran.cluster] if keep and ran.outcome == "complete" else []
                self._ended(entry, ran.outcome, ran.why)
            if job.runtime != SIM:
                # Spark would take from real brokers the time that they are measured by.
                self._auditor.wait()

    def _beside_each_other(self, todo: Sequence[Entry]) -> None:
        entries = {entry.number: entry for entry in todo}

        def jobs() -> Iterator[Job]:
            for entry in todo:
                yield self._begun(entry)

        def told(heard: Heard | Ended) -> None:
            if isinstance(heard, Ended):
                self._ended(entries[heard.number], heard.outcome, heard.why)
            else:
                self._board.note(entries[heard.number], heard.note)
            self._auditor.check()

        try:
            workers.carry_out(jobs(), self._jobs, told)
        finally:
            for entry in todo:
                if entry.state == "running":
                    self._series.ended(entry, "interrupted", "")

    def _begun(self, entry: Entry) -> Job:
        record, spec = self._series.record, self._specs[entry.number - 1]
        job = Job(
            entry.number,
            spec,
            record.runtime,
            (*command(record.file, record.runtime, record.overrides, spec), *with_words(record.packages)),
            tuple(record.packages),
            self._series.choose_directory(spec),
            run.cluster_name(spec.campaign),
        )
        self._series.begin(entry, job.cluster, job.directory)
        return job

    def _ended(self, entry: Entry, outcome: str, why: str) -> None:
        directory = self._series.run_directory(entry)
        if outcome != "complete" and (directory / "run.json").is_file():
            store.amend_run(directory, outcome=outcome, outcome_why=why)
        self._series.ended(entry, outcome, why)
        self._judge(entry)

    def _judge(self, entry: Entry) -> None:
        directory = self._series.run_directory(entry)
        if not self._series.record.is_audited:
            self._board.finished(entry)
        elif not (directory / "run.json").is_file():
            self._series.judged(entry, "unknown", None)
            self._board.finished(entry)
        else:
            self._entry_of[directory] = entry
            self._auditor.submit(directory, self._board.audit(entry))

    def _on_verdict(self, directory: Path, verdict: Verdict) -> None:
        entry = self._entry_of[directory]
        # Only what the audit passed can get worse by what the runner saw.
        said = "unknown" if verdict.verdict == "pass" and entry.outcome != "complete" else verdict.verdict
        self._series.judged(entry, said, sum(check.violations for check in verdict.checks))
        self._board.finished(entry)


def tidy(series: Series) -> list[str]:
    """Removes what a killed controller left of this series' clusters, and nothing else; returns their names."""
    removed = []
    with series.locked():
        for entry in series.runs:
            if entry.state != "running" or entry.cluster is None:
                continue
            directory = series.run_directory(entry)
            if series.record.runtime != SIM:
                runtimes.find(series.record.runtime)(entry.cluster, directory, {}).down()
            if (directory / "run.json").is_file():
                store.amend_run(directory, outcome="interrupted", outcome_why=LEFT_BEHIND)
            removed.append(entry.cluster)
            series.ended(entry, "interrupted", LEFT_BEHIND)
    return removed


def command(file_or_name: str, runtime: str, overrides: dict[str, str], spec: RunSpec) -> tuple[str, ...]:
    """What repeats this run alone: what the matrix chose is said as settings."""
    given = {key: value for key, value in overrides.items() if not key.startswith("matrix.")}
    chosen = {**given, **{key: _yaml(value) for key, value in spec.choices.items()}, "seed": str(spec.seed)}
    settings = [part for key, value in chosen.items() for part in ("--set", f"{key}={value}")]
    return ("brokerlab", "campaign", "run", file_or_name, "--runtime", runtime, *settings)


def _yaml(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
