"""The Docker engine, and how its complaints are told to a person."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from controller.errors import EnvironmentProblem

if TYPE_CHECKING:
    from docker import DockerClient

LABEL = "brokerlab"
CLUSTER, NODE, DIR = "brokerlab.cluster", "brokerlab.node", "brokerlab.dir"
OURS = {"label": f"{LABEL}=1"}
TIMEOUT_S = 60


@cache
def client() -> DockerClient:
    """Imported late: commands that need no container must work without the engine, and start faster."""
    import docker
    from docker.errors import DockerException

    try:
        made = docker.from_env(timeout=TIMEOUT_S, max_pool_size=16)
        made.ping()
    except DockerException as error:
        raise EnvironmentProblem(
            f"Docker does not answer ({_short(error)}); start it, "
            "or run without: --runtime process (make: RUNTIME=process)"
        ) from None
    return made


def is_available() -> bool:
    try:
        client()
    except EnvironmentProblem:
        return False
    return True


@contextmanager
def may_be_gone() -> Iterator[None]:
    """For what is to be removed or ended: it does not matter who was faster."""
    from docker.errors import APIError, NotFound

    try:
        yield
    except NotFound:
        return
    except APIError as error:
        if error.status_code != 409 or "already in progress" not in str(error):
            raise


@contextmanager
def refusals_told() -> Iterator[None]:
    """What the engine does not do for us is the machine's matter, told in its own words."""
    from docker.errors import APIError

    try:
        yield
    except APIError as error:
        raise EnvironmentProblem(f"Docker refused: {_short(error)}") from error


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:297] + "..."
