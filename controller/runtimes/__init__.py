"""Where the nodes of a cluster run. Another runtime registers at the foot of this file."""

from __future__ import annotations

from pathlib import Path

from controller.errors import UsageError
from controller.runtimes.base import Found, NodeState, Runtime
from controller.runtimes.docker import DockerRuntime
from controller.runtimes.process import ProcessRuntime
from controller.sim.settings import RUNTIME as SIM
from controller.yamlfile import known

__all__ = ["DEFAULT", "Found", "NodeState", "Runtime", "discover", "find", "is_there", "names"]

_RUNTIMES: dict[str, type[Runtime]] = {}


def register(runtime: type[Runtime]) -> None:
    _RUNTIMES[runtime.name] = runtime


def names() -> list[str]:
    return list(_RUNTIMES)


def find(name: str) -> type[Runtime]:
    if name == SIM:
        raise UsageError("the runtime `sim` has no live cluster; it is for `brokerlab campaign run`")
    if name not in _RUNTIMES:
        raise UsageError(f"no runtime `{name}`; {known(name, [*_RUNTIMES, SIM])}")
    return _RUNTIMES[name]


def discover() -> list[Found]:
    """Every live cluster on this machine, by name."""
    return sorted((one for runtime in _RUNTIMES.values() for one in runtime.discover()), key=lambda one: one.name)


def is_there(cluster: str, directory: Path) -> bool:
    """Whether anything is left of the cluster of that name that has this run directory."""
    return any((one.name, one.directory) == (cluster, directory) for one in discover())


register(DockerRuntime)
register(ProcessRuntime)

DEFAULT = DockerRuntime.name
