"""The real image, on whatever base this machine can offer."""

from __future__ import annotations

import io
import json
import tarfile
import time
from typing import Any

import pytest

from controller.errors import EnvironmentProblem
from controller.image import ensure_image, remove_stage
from controller.progress import for_stderr
from controller.runtimes import engine

pytestmark = [pytest.mark.docker, pytest.mark.slow]

FACTS = """
import importlib.util, json, os, sys, zmq, msgspec, structlog, node.version
def writable(path):
    try:
        open(path, "w").close()
    except OSError:
        return False
    return True
print(json.dumps({
    "uid": os.getuid(), "version": node.version.VERSION, "curve": zmq.has("curve") and bool(zmq.curve_keypair()),
    "found": [name for name in ("controller", "docker", "click", "pyspark", "tests") if importlib.util.find_spec(name)],
    "writable": [path for path in ("/x", "/tmp/x", "/opt/brokerlab/x") if writable(path)],
    "compiled": bool(node.version.__cached__) and os.path.exists(node.version.__cached__),
    "capabilities": [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")],
}))
"""


@pytest.fixture(scope="module")
def image() -> str:
    return ensure_image(for_stderr())


def run(image: str, command: list[str], entrypoint: str | None = None) -> str:
    said: bytes = engine.client().containers.run(
        image, command, entrypoint=entrypoint, remove=True, network_mode="none",
        read_only=True, cap_drop=["ALL"], security_opt=["no-new-privileges"],
    )  # fmt: skip
    return said.decode()


def test_a_node_runs_without_rights_and_with_its_own_dependencies_only(image: str) -> None:
    from node.version import VERSION

    assert json.loads(run(image, ["-c", FACTS], entrypoint="python3")) == {
        "uid": 10001, "version": VERSION, "curve": True, "found": [], "writable": [], "compiled": True,
        "capabilities": ["0000000000000000"],
    }  # fmt: skip


def test_the_entry_point_is_the_node(image: str) -> None:
    assert "broker" in run(image, ["--help"])


def test_a_second_build_does_nothing_and_is_quick(image: str) -> None:
    before = engine.client().api.inspect_image(image)["Id"]
    started_s = time.monotonic()
    assert ensure_image(for_stderr()) == image
    assert time.monotonic() - started_s < 2
    assert engine.client().api.inspect_image(image)["Id"] == before


def test_nothing_of_the_hosts_package_sources_is_in_the_image(image: str) -> None:
    command = ["-c", "ls /etc/apt/sources.list* /etc/apt/apt.conf.d/99mmdebstrap 2>/dev/null | wc -l"]
    base_is_ours = engine.client().api.images(filters={"label": "brokerlab.image=base"})
    found = int(run(image, command, entrypoint="sh"))
    assert found == 0 or not base_is_ours


def test_an_image_without_python_is_refused_as_a_base(image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = engine.client()
    client.api.import_image_from_data(_empty_tar(), repository="brokerlab-test-empty", tag="1")
    monkeypatch.setenv("BROKERLAB_BASE", "brokerlab-test-empty:1")
    try:
        with pytest.raises(EnvironmentProblem, match="no working python3"):
            ensure_image(for_stderr())
        assert client.api.containers(all=True, filters={"ancestor": "brokerlab-test-empty:1"}) == []
    finally:
        client.api.remove_image("brokerlab-test-empty:1", force=True)


def test_old_images_go_and_those_in_use_stay() -> None:
    client = engine.client()
    names = [f"brokerlab-test-old:{number}" for number in range(4)]
    for number in range(4):
        client.api.import_image_from_data(
            _empty_tar(), repository="brokerlab-test-old", tag=str(number), changes=["LABEL brokerlab.image=test"]
        )
    container = client.containers.create(names[0], ["none"])
    try:
        removed = set(remove_stage(client, "test", kept=1))
        left = set(_tags(client.api.images(filters={"label": "brokerlab.image=test"})))
        assert left == set(names) - removed
        assert names[0] in left
        # The newest and the one in use, which may be the same.
        assert len(left) in (1, 2)
    finally:
        container.remove(force=True)
    remove_stage(client, "test", kept=0)
    assert client.api.images(filters={"label": "brokerlab.image=test"}) == []


def _tags(images: list[dict[str, Any]]) -> list[str]:
    return [tag for image in images for tag in image["RepoTags"]]


def _empty_tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        folder = tarfile.TarInfo("etc")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
    return buffer.getvalue()
