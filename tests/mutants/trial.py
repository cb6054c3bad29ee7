"""One mutant before the campaigns, in the simulator; the quick judge says which of them convicts it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from controller.campaigns import model
from controller.campaigns.rehearsal import rehearse
from controller.campaigns.soak import hunt
from controller.campaigns.soak.schedules import schedule
from tests.mutants.catalogue import MUTANTS

SOAK = "soak"
REPLAY = "replay"
SEED = 2


class Trial(NamedTuple):
    name: str
    found: dict[str, str]
    """Campaign -> what it convicts of; empty where it does not."""
    seed: int | None
    """Of the random schedule that convicts."""


def try_mutant(name: str, campaigns: tuple[str, ...], schedules: int) -> Trial:
    """Or a scheme as it is, under its own name."""
    mutant = MUTANTS.get(name)
    scheme = mutant.scheme if mutant else name
    with mutant.at_work() if mutant else nullcontext():
        found = {campaign: _convicted(campaign, scheme) for campaign in campaigns}
        tried = (hunt.try_one(scheme, seed) for seed in range(1, schedules + 1))
        first = next((one for one in tried if one.outcome == "broken"), None)
    found[SOAK] = f"schedule {first.seed}: {first.told}" if first else ""
    if mutant is None or mutant.is_about_hashing:
        found[REPLAY] = "" if fingerprint(scheme, "1") == fingerprint(scheme, "2") else "another run, other bytes"
    return Trial(name, found, first.seed if first else None)


def _convicted(campaign: str, scheme: str) -> str:
    (spec, *_) = model.runs(model.load(campaign))
    outcome, told = hunt.judged(rehearse(structs.replace(spec, scheme=scheme)))
    return told if outcome == "broken" else ""


def keep(trial: Trial) -> Path:
    """The schedule that convicted it as a run on disk, for the audit."""
    mutant = MUTANTS[trial.name]
    assert trial.seed is not None
    with mutant.at_work():
        return hunt.keep(hunt.Tried(mutant.scheme, trial.seed, "broken"))


def fingerprint(scheme: str, hash_seed: str) -> str:
    """Of the logs of one run, in a Python that hashes differently."""
    code = f"from tests.mutants.trial import told; print(told({scheme!r}))"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def told(scheme: str) -> str:
    import hashlib

    logs = rehearse(structs.replace(schedule(scheme, SEED), log="all")).logs
    return hashlib.sha256(b"".join(logs[name] for name in sorted(logs))).hexdigest()
