"""Which base the node's image stands on: the one named, a slim Python, or one made from Debian packages."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from controller import image_debian as debian
from controller.errors import EnvironmentProblem

if TYPE_CHECKING:
    from docker import DockerClient

    from controller.progress import Progress

VARIABLE = "BROKERLAB_BASE"
SLIM = ("python:3.11-slim-bookworm", "python:3.11-slim", "python:3.12-slim", "python:3.13-slim")
# Between two signs of life, not for the whole: a slow line may take minutes, a registry out of reach may not.
_PULL_SILENCE_S = 20


def choose(
    client: DockerClient,
    progress: Progress,
    environment: Mapping[str, str] = os.environ,
    release: Callable[[], str | None] = debian.codename,
) -> str:
    """The base's image id; pulled or made if the engine has none yet."""
    named = environment.get(VARIABLE)
    if named:
        return _named(client, named, progress)
    debian_release = release()
    ready = [*SLIM, debian.tag(debian_release)] if debian_release else [*SLIM]
    for reference in ready:
        if found := image_id(client, reference):
            return found
    problems = []
    try:
        return _pull(client, SLIM[0], progress)
    except EnvironmentProblem as error:
        problems.append(str(error))
    try:
        if debian_release is None:
            raise EnvironmentProblem("this is no Debian")
        return image_id(client, debian.make(client, debian_release, progress)) or ""
    except EnvironmentProblem as error:
        problems.append(str(error))
    raise EnvironmentProblem(
        f"no base image ({'; '.join(problems)}): load one and name it in {VARIABLE}, or let the engine pull {SLIM[0]}, "
        "or install mmdebstrap on a Debian host with a reachable mirror"
    )


def image_id(client: DockerClient, reference: str) -> str | None:
    from docker.errors import ImageNotFound

    try:
        found: str = client.api.inspect_image(reference)["Id"]
    except ImageNotFound:
        return None
    return found


def _named(client: DockerClient, reference: str, progress: Progress) -> str:
    if found := image_id(client, reference):
        return found
    try:
        return _pull(client, reference, progress)
    except EnvironmentProblem as error:
        raise EnvironmentProblem(f"{VARIABLE}={reference}: the engine has no such image, and {error}") from None


def _pull(client: DockerClient, reference: str, progress: Progress) -> str:
    """Gives up when the engine is silent for long: the SDK itself would wait for ever."""
    progress.say(f"pulling {reference}")
    events: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_follow_pull, args=(client, reference, events), daemon=True).start()
    try:
        while (problem := events.get(timeout=_PULL_SILENCE_S)) == "":
            continue
    except queue.Empty:
        problem = f"nothing was heard for {_PULL_SILENCE_S} s"
    found = image_id(client, reference)
    if problem is not None or found is None:
        raise EnvironmentProblem(f"{reference} cannot be pulled: {problem}")
    return found


def _follow_pull(client: DockerClient, reference: str, events: queue.SimpleQueue[str | None]) -> None:
    """Reports "" for each sign of life, then what went wrong, or None."""
    from docker.errors import APIError
    from docker.utils import parse_repository_tag
    from requests.exceptions import RequestException

    repository, version = parse_repository_tag(reference)
    try:
        for event in client.api.pull(repository, tag=version or "latest", stream=True, decode=True):
            if "error" in event:
                events.put(event["error"])
                return
            events.put("")
    except APIError as error:
        events.put(error.explanation or str(error))
    except RequestException as error:
        events.put(str(error))
    else:
        events.put(None)
