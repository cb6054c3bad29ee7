from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller import topology
from controller.cluster import ClusterSpec, files, live
from controller.errors import UsageError
from controller.runtimes.base import Layout, Owner
from controller.runtimes.docker import DockerRuntime
from controller.runtimes.process import ProcessRuntime
from controller.workloads.plans import Attach, Plan
from node.config import read_config
from node.security import BrokerKeys, DriverKeys, GatewayKeys, read_keys

PLAN = Plan((Attach(phase="warm", at_ms=0, client="c1", broker="b1"),))


def spec(directory: Path, **changes: object) -> ClusterSpec:
    made = ClusterSpec(
        name="lab",
        runtime="process",
        scheme="simple",
        topology=topology.load("line-3"),
        directory=directory,
        seed=7,
        command=("brokerlab", "up", "a file.yaml"),
        plans={"driver1": PLAN},
    )
    return msgspec.structs.replace(made, **changes)


@pytest.fixture
def written(tmp_path: Path) -> tuple[ClusterSpec, Layout, dict[str, object]]:
    one = spec(tmp_path / "run")
    layout = ProcessRuntime(one.name, one.directory, one.nodes()).layout(None)
    keys = files.write(one, layout, Owner(ProcessRuntime.owner().uid, ProcessRuntime.owner().gid))
    return one, layout, keys


def test_every_node_reads_its_configuration_and_its_roles_keys(written: tuple[ClusterSpec, Layout, object]) -> None:
    one, layout, _ = written
    forms: dict[str, Any] = {"broker": BrokerKeys, "driver": DriverKeys, "gateway": GatewayKeys}
    assert one.nodes() == {"b1": "broker", "b2": "broker", "b3": "broker", "driver1": "driver", "gateway": "gateway"}
    for name, role in one.nodes().items():
        config = read_config(str(one.directory / "config" / f"{name}.json"))
        assert (config.node, config.cluster, config.scheme) == (name, "lab", "simple")
        read_keys(config.keys, forms[role])
        for other in ("b1", "b2", "b3"):
            assert config.reach(other, "peers") == layout.endpoints[other]["peers"]
    assert Path(read_config(str(one.directory / "config" / "driver1.json")).plan or "").read_text().count("attach") == 1


def test_nobody_else_can_read_configuration_keys_plans_and_logs(written: tuple[ClusterSpec, Layout, object]) -> None:
    one, _, _ = written
    for folder in ("config", "logs"):
        assert stat.S_IMODE((one.directory / folder).stat().st_mode) == 0o700
    for path in (one.directory / "config").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_run_json_tells_what_the_audit_and_a_repetition_need(written: tuple[ClusterSpec, Layout, object]) -> None:
    told = json.loads((written[0].directory / "run.json").read_text())
    assert told["promise"] == "self-healing"
    assert told["drivers"] == ["driver1"]
    assert (told["seed"], told["scheme"], told["runtime"], told["topology"]) == (7, "simple", "process", "line-3")
    assert told["command"] == "brokerlab up 'a file.yaml'"
    assert isinstance(told["declares"], list)
    assert told["host"]["cpus"] >= 1
    assert told["versions"]["pyzmq"]


def test_cluster_json_is_what_a_client_and_a_later_command_read(
    written: tuple[ClusterSpec, Layout, dict[str, object]],
) -> None:
    one, _, keys = written
    facts = files.cluster_facts(one, "tcp://127.0.0.1:1", keys)
    assert {"name", "runtime", "scheme", "needs", "gateway", "keys", "topology", "nodes", "dir"} == set(facts)
    assert set(facts["keys"]) == {"server", "client", "admin"}
    files.write_json(one.directory / live.FILE, facts, files.PRIVATE_FILE)
    assert stat.S_IMODE((one.directory / live.FILE).stat().st_mode) == 0o600
    read = live.read(one.directory)
    assert (read.name, read.brokers, read.drivers) == ("lab", ("b1", "b2", "b3"), ("driver1",))
    assert read.topology.links == one.topology.links


def test_a_damaged_or_missing_cluster_json_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be read .*`brokerlab down --all` removes it"):
        live.read(tmp_path)
    (tmp_path / live.FILE).write_text("{")
    with pytest.raises(UsageError, match="is damaged"):
        live.read(tmp_path)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": "Lab/1"}, "`Lab/1` cannot be a cluster's name"),
        ({"name": ""}, "cannot be a cluster's name"),
        ({"name": "a" * 41}, "cannot be a cluster's name"),
        ({"scheme": "simpel"}, "no scheme is called 'simpel'; known are .*simple"),
        ({"parameters": {"speed": 1}}, "parameters of simple: .*speed"),
    ],
)
def test_what_cannot_be_started_is_told_before_anything_is_made(
    tmp_path: Path, changes: dict[str, object], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        spec(tmp_path / "run", **changes).check()
    assert not (tmp_path / "run").exists()


def test_containers_see_names_and_processes_see_abstract_sockets(tmp_path: Path) -> None:
    nodes = spec(tmp_path).nodes()
    inside = DockerRuntime("lab", tmp_path, nodes).layout(None)
    assert inside.endpoints["b2"] == {"peers": "tcp://b2:7001", "clients": "tcp://b2:7002", "admin": "tcp://b2:7003"}
    assert inside.endpoints["driver1"] == {"admin": "tcp://driver1:7003"}
    assert inside.binds["gateway"] == {"gateway": "tcp://*:7000"}
    local = ProcessRuntime("lab", tmp_path, nodes)
    first, second = local.layout(None), local.layout(4321)
    assert all(one.startswith("ipc://@brokerlab-") for one in first.endpoints["b2"].values())
    assert first.endpoints["b2"] != second.endpoints["b2"], "two clusters of one name must not meet"
    assert second.binds["gateway"] == {"gateway": "tcp://127.0.0.1:4321"}
