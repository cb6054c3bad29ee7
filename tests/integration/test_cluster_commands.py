"""A cluster that stays: up, ps, graph, publish, subscribe, logs, fault, down, on both runtimes."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from controller import runtimes
from controller.cluster import live
from node.client import Client
from tests.integration.commands import Here, traces, unique, until_line
from tests.integration.lab import until


class Up(NamedTuple):
    here: Here
    name: str
    runtime: str
    said: str
    run: Path


@pytest.fixture(scope="module", params=["process", pytest.param("docker", marks=pytest.mark.docker)])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    here = Here(tmp_path_factory.mktemp(request.param))
    name = unique("line")
    try:
        said = here.launch("up", "line-3", "--runtime", request.param, "--name", name).stdout
        (run,) = here.runs()
        yield Up(here, name, request.param, said, run)
    finally:
        for left in traces(name):
            runtimes.find(left.runtime)(left.name, left.directory, left.nodes).down()


def states(cluster: Up) -> dict[str, str]:
    return {row["node"]: row["state"] for row in cluster.here.json("ps", "--cluster", cluster.name)}


def links(cluster: Up) -> dict[str, tuple[str, float]]:
    rows = cluster.here.json("graph", "--cluster", cluster.name)
    return {row["link"]: (row["state"], row["delay_ms"]) for row in rows}


def fault_records(cluster: Up) -> list[tuple[str, str, str]]:
    paths = sorted((cluster.run / "logs").glob("controller.*.jsonl"), key=lambda path: int(path.name.split(".")[1]))
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return [(one["id"], one["kind"], one["phase"]) for one in lines if one["event"] == "fault"]


def test_up_says_what_to_type_next(cluster: Up) -> None:
    assert f"cluster {cluster.name} is up: 3 brokers, gateway tcp://127.0.0.1:" in cluster.said
    for word in ("brokerlab watch", "brokerlab publish", "brokerlab subscribe", "brokerlab fault", "make cluster-down"):
        assert word in cluster.said
    assert (cluster.here.directory / "runs" / "latest").resolve() == cluster.run.resolve()


def test_ps_shows_every_node(cluster: Up) -> None:
    rows = cluster.here.json("ps", "--cluster", cluster.name)
    assert {row["node"]: (row["role"], row["state"], row["ready"]) for row in rows} == {
        "b1": ("broker", "running", True),
        "b2": ("broker", "running", True),
        "b3": ("broker", "running", True),
        "gateway": ("gateway", "running", None),
    }
    (head, first, *_) = cluster.here.run("ps", "--cluster", cluster.name).stdout.splitlines()
    assert head.split()[:5] == ["cluster", "runtime", "node", "role", "status"]
    assert re.match(rf"{cluster.name} +{cluster.runtime} +b1 +broker +up \d+ (s|min)", first)


def test_a_message_travels_the_line(cluster: Up) -> None:
    here = cluster.here
    wanted = ("subscribe", "b3", 'price > 10 and sym = "IBM"', "--count", "1", "--cluster", cluster.name)
    with here.started(*wanted) as listening:
        until_line(listening.stderr, "subscribed at b3")
        for content in ({"price": 9, "sym": "IBM"}, {"price": 12, "sym": "IBM"}):
            published = here.run("publish", "b1", json.dumps(content), "--cluster", cluster.name).stdout.strip()
        out, _ = listening.communicate(timeout=30)
        assert listening.returncode == 0
    (message,) = [json.loads(line) for line in out.splitlines()]
    assert (message["msg"], message["content"]) == (published, {"price": 12, "sym": "IBM"})


def test_ctrl_c_ends_a_subscription_in_order(cluster: Up) -> None:
    import signal

    with cluster.here.started("subscribe", "b2", "*", "--cluster", cluster.name) as listening:
        until_line(listening.stderr, "subscribed at b2")
        listening.send_signal(signal.SIGINT)
        assert listening.wait(20) == 130
    with live.read(cluster.run) as asked:
        until(lambda: asked.request("b2", "table")["entries"] == [], "the subscription is gone")


def test_killed_and_brought_back_the_network_routes_again(cluster: Up) -> None:
    before = len(fault_records(cluster))
    with Client.from_cluster(cluster.run / live.FILE, "b3") as listener:
        listener.subscribe("x = 1")
        cluster.here.run("fault", "kill", "b2", "--cluster", cluster.name)
        assert states(cluster)["b2"] == "dead"
        assert links(cluster)["b1-b2"][0] == "b2 is dead"
        assert re.search(r"b2 +broker +dead \d+ s ", cluster.here.run("ps", "--cluster", cluster.name).stdout)
        assert "dead already" in cluster.here.complaint("fault", "pause", "b2", "--cluster", cluster.name)
        cluster.here.run("fault", "restart", "b2", "--cluster", cluster.name)
        assert states(cluster)["b2"] == "running"
        cluster.here.run("publish", "b1", '{"x": 1}', "--cluster", cluster.name)
        message = listener.receive(20)
    assert message is not None
    assert message.content == {"x": 1}
    (first, second) = fault_records(cluster)[before:]
    assert first[1:] == ("kill", "apply")
    assert second == (first[0], "kill", "heal")


def test_pause_and_resume(cluster: Up) -> None:
    here = cluster.here
    here.run("fault", "pause", "b3", "--cluster", cluster.name)
    assert states(cluster)["b3"] == "paused"
    assert re.search(r"└── ‖ b3  leaf  paused", here.run("graph", "--cluster", cluster.name).stdout)
    here.run("fault", "resume", "b3", "--cluster", cluster.name)
    assert states(cluster)["b3"] == "running"
    assert "b3 is not paused" in here.complaint("fault", "resume", "b3", "--cluster", cluster.name)


def test_cut_delay_restart_and_heal_all(cluster: Up) -> None:
    here = cluster.here
    here.run("fault", "cut", "b2-b1", "--cluster", cluster.name)
    here.run("fault", "delay", "b2-b3", "--ms", "15", "--cluster", cluster.name)
    assert links(cluster) == {"b1-b2": ("cut", 0), "b2-b3": ("up", 15)}
    applied = here.json("fault", "list", "--cluster", cluster.name)
    assert [(one["kind"], one["target"]) for one in applied] == [("cut", "link:b1-b2"), ("delay", "link:b2-b3")]
    drawn = here.run("graph", "--cluster", cluster.name).stdout
    assert "2 faults on: cut b1-b2, delay b2-b3" in drawn
    assert re.search(r"── .* b1  leaf .* ── link cut", drawn) and re.search(r"── .* b3  leaf  ── 15 ms, delay", drawn)
    # A broker that comes back while its link is slow is told so again.
    here.run("fault", "restart", "b3", "--cluster", cluster.name)
    with live.read(cluster.run) as asked:
        assert asked.request("b3", "status")["links"]["b2"]["delay_ms"] == 15
    here.run("fault", "heal", "--all", "--cluster", cluster.name)
    assert here.json("fault", "list", "--cluster", cluster.name) == []
    until(lambda: links(cluster) == {"b1-b2": ("up", 0), "b2-b3": ("up", 0)}, "the links are as before")


def test_a_strain_is_healed_by_another_command(cluster: Up) -> None:
    here = cluster.here
    here.run("fault", "clock-skew", "b1", "--rate", "1.5", "--cluster", cluster.name)
    view = here.json("watch", cluster.name, "--every", "0.2")
    assert [(one["kind"], one["target"]) for one in view["faults"]] == [("clock-skew", "broker:b1")]
    here.run("fault", "heal", "b1", "--cluster", cluster.name)
    with live.read(cluster.run) as asked:
        assert asked.request("b1", "status")["strain"] == {}


def test_a_snapshot_of_the_cluster(cluster: Up) -> None:
    view = cluster.here.json("watch", cluster.name, "--every", "0.2")
    assert [(one["name"], one["state"]) for one in view["brokers"]] == [("b1", "up"), ("b2", "up"), ("b3", "up")]
    assert all(one["rate_hz"] is not None for one in view["brokers"])
    assert [(one["a"], one["b"], one["state"]) for one in view["links"]] == [("b1", "b2", "up"), ("b2", "b3", "up")]
    assert "is back, incarnation 2" in [one["text"] for one in view["events"] if one["node"] == "b2"]
    told = cluster.here.run("watch", cluster.name, "--every", "0.2").stdout
    assert "3 brokers up · 2 links up" in told and "\x1b" not in told


def test_logs(cluster: Up) -> None:
    def logs(*arguments: str) -> str:
        return cluster.here.run("logs", *arguments, "--cluster", cluster.name).stdout

    assert "broker is up" in logs("b1", "--stderr")
    assert "gateway is up" in logs("gateway")
    assert json.loads(logs("b1", "--raw", "--tail", "1"))["node"] == "b1"
    told = logs("b2", "--tail", "all", "--event", "open")
    assert [line.split("  ", 1)[1] for line in told.splitlines()] == [
        f"open         broker b2, incarnation {inc}, runs covering-active" for inc in (1, 2)
    ]
    assert "apply kill broker:b2 (f1)" in logs("controller", "-n", "all")
    assert "open" in cluster.here.run("logs", "b1", "-n", "all", "--run", str(cluster.run)).stdout


def test_following_goes_on_in_the_next_life(cluster: Up) -> None:
    following = ("logs", "b3", "-f", "--event", "open", "--cluster", cluster.name)
    with (
        cluster.here.started(*following) as records,
        cluster.here.started(*following[:3], "--stderr", *following[5:]) as said,
    ):
        before = until_line(records.stdout, "open")
        until_line(said.stdout, "broker is up")
        cluster.here.run("fault", "restart", "b3", "--cluster", cluster.name)
        assert until_line(records.stdout, "open").split("incarnation")[1] > before.split("incarnation")[1]
        until_line(said.stdout, "broker is up")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fault", "kill", "b9"), "no broker `b9` in"),
        (("fault", "cut", "b1-b3"), "no link `b1-b3` in"),
        (("fault", "heal", "b1-b2"), "there is no fault on b1-b2"),
        (("fault", "heal"), "name a link, a broker or a fault's id to heal, or give --all"),
        (("publish", "b9", "{}"), "no broker `b9`"),
        (("publish", "b1", "{"), "CONTENT: the content is not JSON"),
        (("publish", "b1", "[1]"), "CONTENT: a content is an object of names and values"),
        (("publish", "b1", '{"x": null}'), "x"),
        (("subscribe", "b1", "price >"), "character 8 of the filter"),
        (("logs", "b9"), "no node `b9`"),
        (("logs", "b9", "--stderr"), "no node `b9`"),
        (("logs", "b1", "--since", "soon"), "--since takes how long ago"),
    ],
)
def test_wrong_words_get_one_line(cluster: Up, arguments: tuple[str, ...], told: str) -> None:
    assert told in cluster.here.complaint(*arguments, "--cluster", cluster.name)


def test_a_second_cluster_of_the_same_name_is_refused_and_leaves_nothing(cluster: Up) -> None:
    before = cluster.here.runs()
    told = cluster.here.complaint("up", "line-3", "--runtime", "process", "--name", cluster.name)
    assert f"`brokerlab down {cluster.name}`" in told
    assert cluster.here.runs() == before
    assert set(states(cluster).values()) == {"running"}


def test_secrets_are_nobody_elses(cluster: Up) -> None:
    for path in (cluster.run / "cluster.json", *(cluster.run / "config").iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_containers_have_no_more_rights_than_they_need(cluster: Up) -> None:
    if cluster.runtime != "docker":
        assert all(one.nodes.keys() == {"b1", "b2", "b3", "gateway"} for one in traces(cluster.name))
        return
    import docker

    client = docker.from_env()
    published = {}
    for node in ("b1", "b2", "b3", "gateway"):
        attributes = client.containers.get(f"brokerlab-{cluster.name}-{node}").attrs
        host = attributes["HostConfig"]
        assert attributes["Config"]["User"].split(":")[0] not in ("", "0", "root")
        assert host["CapDrop"] == ["ALL"]
        assert host["SecurityOpt"] == ["no-new-privileges"]
        assert host["ReadonlyRootfs"]
        assert host["Memory"] > 0
        assert host["PidsLimit"] > 0
        assert not host["Privileged"]
        mounts = {one["Destination"] for one in attributes["Mounts"]}
        assert "/config" not in mounts, "no node sees the whole directory with every role's secrets"
        assert mounts == {
            "/logs",
            f"/config/{node}.json",
            f"/config/{'gateway' if node == 'gateway' else 'broker'}-keys.json",
        }
        published[node] = [one for some in attributes["NetworkSettings"]["Ports"].values() for one in some or ()]
    client.close()
    (only,) = [one for some in published.values() for one in some]
    assert only["HostIp"] == "127.0.0.1"
    assert published["gateway"] == [only]


def test_down_leaves_the_logs_closed_and_nothing_running(cluster: Up) -> None:
    """The last test of the module: it takes the cluster away."""
    assert cluster.name in cluster.here.run("down", cluster.name).stderr
    assert traces(cluster.name) == []
    assert "close" in cluster.here.run("logs", "b1", "-n", "1", "--run", str(cluster.run)).stdout
    for broker in ("b1", "b2", "b3"):
        newest = max((cluster.run / "logs").glob(f"{broker}.*.jsonl"), key=lambda path: int(path.name.split(".")[1]))
        assert json.loads(newest.read_text().splitlines()[-1])["event"] == "close"
    assert "is running" in cluster.here.complaint("down", cluster.name)
