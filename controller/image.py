"""The node's image: built when its inputs change, found by their hash otherwise."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller import image_base, image_packages, image_wheels
from controller.errors import EnvironmentProblem
from controller.image_debian import LABEL
from controller.runtimes import engine

if TYPE_CHECKING:
    from docker import DockerClient

    from controller.progress import Progress

REPOSITORY = "brokerlab-node"
KEPT = 3
_ROOT = Path(__file__).resolve().parent.parent
_DOCKERFILE, _NODE_REQUIREMENTS, _INSTALLER = "images/Dockerfile", "requirements/node.txt", "requirements/build.txt"


def ensure_image(progress: Progress, packages: Sequence[str] = ()) -> str:
    """The tag of an image with the sources, and the packages beside them, as they are now."""
    inputs = {**read_inputs(_ROOT), **image_packages.read_inputs(packages)}
    client = engine.client()
    base = image_base.choose(client, progress)
    tag = tag_of(inputs, base)
    if image_base.image_id(client, tag) is None:
        progress.say(f"building {tag}" + (f" with {', '.join(packages)}" if packages else ""))
        _build(client, inputs, base, tag)
        _prune(client)
    return tag


def remove_images() -> list[str]:
    """Removes every image that brokerlab built, as far as no container needs it."""
    client = engine.client()
    # What was built on something goes before it.
    return [name for stage in ("node", "install", "base") for name in remove_stage(client, stage, kept=0)]


def read_inputs(root: Path) -> dict[str, bytes]:
    """Read once and built from memory, so that an edit during the build cannot end up under the wrong tag."""
    sources = [path for path in (root / "node").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    files = [root / _DOCKERFILE, root / _NODE_REQUIREMENTS, root / _INSTALLER, *sources]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(files)}


def tag_of(inputs: Mapping[str, bytes], base: str) -> str:
    digest = hashlib.sha256(base.encode())
    for name in sorted(inputs):
        # Lengths keep two files from being read as one.
        digest.update(f"\n{name} {len(inputs[name])}\n".encode())
        digest.update(inputs[name])
    return f"{REPOSITORY}:{digest.hexdigest()[:16]}"


def _build(client: DockerClient, inputs: Mapping[str, bytes], base: str, tag: str) -> None:
    target = image_wheels.Target.parse(_ask_python(client, base))
    wheels = _ROOT / "build" / "wheels"
    with tempfile.TemporaryDirectory(prefix="brokerlab-image-") as folder:
        context = Path(folder)
        for name, content in inputs.items():
            path = context / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        shutil.copytree(image_wheels.fetch(context / _NODE_REQUIREMENTS, target, wheels), context / "wheels")
        installer = image_wheels.fetch(context / _INSTALLER, target, wheels)
        (context / "installer").mkdir()
        shutil.copy(next(installer.glob("pip-*.whl")), context / "installer" / "pip.whl")
        pinned = image_packages.pins(inputs[_NODE_REQUIREMENTS].decode())
        image_packages.gather(context, target, pinned, context / "more")
        events = client.api.build(
            path=folder, dockerfile=_DOCKERFILE, tag=tag, buildargs={"BASE": base},
            network_mode="none", rm=True, forcerm=True, decode=True,
        )  # fmt: skip
        _follow(events)


def _follow(events: Any) -> None:
    said: list[str] = []
    for event in events:
        said += [line.strip() for line in event.get("stream", "").splitlines() if line.strip()]
        if "error" in event:
            raise EnvironmentProblem(f"the node's image cannot be built: {' / '.join([*said[-2:], event['error']])}")


def _ask_python(client: DockerClient, base: str) -> str:
    from docker.errors import APIError

    container = client.containers.create(base, ["-c", image_wheels.PROBE], entrypoint="python3", network_mode="none")
    # Not `run(remove=True)`: that leaves the container behind when the program cannot be started.
    try:
        container.start()
        status = container.wait()["StatusCode"]
        said = container.logs().decode(errors="replace")
    except APIError as error:
        raise EnvironmentProblem(f"the base image has no working python3: {error.explanation}") from None
    finally:
        container.remove(force=True)
    if status != 0:
        raise EnvironmentProblem(f"the base image has no working python3: {' '.join(said.split())}")
    return said


def _prune(client: DockerClient) -> None:
    """Some old ones stay: going back to yesterday's sources should cost nothing."""
    for stage in ("node", "install"):
        remove_stage(client, stage, kept=KEPT)


def remove_stage(client: DockerClient, stage: str, kept: int) -> list[str]:
    """Removes all but the newest ones; what a container stands on stays too."""
    return _remove(client, _ours(client, stage)[kept:])


def _ours(client: DockerClient, stage: str) -> list[dict[str, Any]]:
    """Newest first. A label of its own: containers inherit it, and `brokerlab=1` is how clusters are found."""
    found: list[dict[str, Any]] = client.api.images(filters={"label": f"{LABEL}={stage}"})
    return sorted(found, key=lambda image: (-image["Created"], image["Id"]))


def _remove(client: DockerClient, images: list[dict[str, Any]]) -> list[str]:
    from docker.errors import APIError, ImageNotFound

    removed = []
    for image in images:
        for name in [tag for tag in image["RepoTags"] or () if tag != "<none>:<none>"] or [image["Id"]]:
            try:
                client.api.remove_image(name)
            except ImageNotFound:
                continue
            except APIError as error:
                if error.status_code != 409:
                    raise
                continue
            removed.append(name)
    return removed
