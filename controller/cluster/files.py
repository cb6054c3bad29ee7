"""What a cluster's run directory holds before the nodes start: configuration and keys, nobody else's to read."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from controller.cluster import facts
from controller.cluster.spec import ClusterSpec, find_scheme
from controller.runtimes.base import Layout, Owner
from controller.sim.settings import RUNTIME as SIM
from node.security import key_files, make_keys

PRIVATE_FILE, PRIVATE_DIRECTORY = 0o600, 0o700


def write(spec: ClusterSpec, layout: Layout, owner: Owner) -> dict[str, Any]:
    """The whole directory but cluster.json, which has to wait for the gateway's port; returns the clients' keys."""
    config, logs = spec.directory / "config", spec.directory / "logs"
    for directory in (config, logs):
        directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True)
        os.chown(directory, owner.uid, owner.gid)
    made = key_files(make_keys())
    client_keys = made.pop("client-keys.json")
    for name, content in made.items():
        _write_private(config / name, encoded(content), owner)
    for name, role in spec.nodes().items():
        _write_private(config / f"{name}.json", encoded(node_config(spec, layout, name, role)), owner)
    _write_facts(spec, owner)
    return client_keys


def write_run(spec: ClusterSpec) -> None:
    """The directory of a run without processes: nobody has a configuration or keys."""
    for directory in (spec.directory / "config", spec.directory / "logs"):
        directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True)
    _write_facts(spec, Owner(os.getuid(), os.getgid()))


def _write_facts(spec: ClusterSpec, owner: Owner) -> None:
    for driver, plan in spec.plans.items():
        path = spec.directory / "config" / f"{driver}.plan.jsonl"
        _write_private(path, b"", owner)
        plan.write(path)
    write_json(spec.directory / "topology.json", spec.topology.to_json())
    write_json(spec.directory / "run.json", run_facts(spec))


def node_config(spec: ClusterSpec, layout: Layout, name: str, role: str) -> dict[str, Any]:
    config = {
        "node": name,
        "cluster": spec.name,
        "logs": layout.logs_dir,
        "keys": f"{layout.config_dir}/{role}-keys.json",
        "scheme": spec.scheme,
        "parameters": spec.parameters,
        "topology": spec.topology.to_json(),
        "endpoints": layout.endpoints,
        "bind": layout.binds[name],
        "log": spec.log,
        "clients_wait_s": spec.clients_wait_s,
    }
    if role == "driver":
        config["plan"] = f"{layout.config_dir}/{name}.plan.jsonl"
    return config


def run_facts(spec: ClusterSpec) -> dict[str, Any]:
    scheme = find_scheme(spec.scheme)
    return {
        "name": spec.name,
        "seed": spec.seed,
        "commit": facts.commit(),
        "campaign": spec.campaign,
        "scheme": spec.scheme,
        "promise": scheme.promise,
        "declares": sorted(scheme.declares),
        "needs": sorted(scheme.needs),
        "parameters": spec.parameters,
        "topology": spec.topology.name,
        "drivers": list(spec.plans),
        "runtime": spec.runtime,
        "log": spec.log,
        **({"sim": spec.sim} if spec.runtime == SIM else {}),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": facts.host(),
        "versions": facts.versions(),
        **msgspec.to_builtins(spec.experiment),
        "packages": list(spec.packages),
        "command": shlex.join(spec.command),
    }


def cluster_facts(spec: ClusterSpec, gateway: str, client_keys: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": spec.name,
        "runtime": spec.runtime,
        "scheme": spec.scheme,
        "needs": sorted(find_scheme(spec.scheme).needs),
        "gateway": gateway,
        "keys": client_keys,
        "topology": spec.topology.to_json(),
        "nodes": spec.nodes(),
        "dir": str(spec.directory),
    }


def encoded(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def write_json(path: Path, value: Any, mode: int = 0o644) -> None:
    """A reader sees the old content or the new one, never half of it."""
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    _create(beside, encoded(value), mode)
    beside.replace(path)


def _write_private(path: Path, content: bytes, owner: Owner) -> None:
    _create(path, content, PRIVATE_FILE)
    os.chown(path, owner.uid, owner.gid)


def _create(path: Path, content: bytes, mode: int) -> None:
    # The mode is given at creation: a secret must not be readable even for a moment.
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
