"""A cluster's own network: nothing leaves it, and every node has a fixed address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

from controller.errors import EnvironmentProblem
from controller.runtimes import engine, ports

if TYPE_CHECKING:
    from docker.models.containers import Container

ATTEMPTS = 5


def create(name: str, labels: Mapping[str, str], nodes: Sequence[str]) -> dict[str, str]:
    """Returns each node's address, which it keeps over restarts.

    The engine gives fixed addresses only in a subnet that it was told; which one is free it knows best itself. So it
    makes a network of its choice first, and then another one in the same place.
    """
    from docker.errors import APIError
    from docker.types import IPAMConfig, IPAMPool

    client = engine.client()
    for _ in range(ATTEMPTS):
        subnet = _free_subnet(name, labels)
        try:
            client.networks.create(
                name,
                driver="bridge",
                labels=dict(labels),
                ipam=IPAMConfig(pool_configs=[IPAMPool(subnet=str(subnet), gateway=str(subnet[1]))]),
                # Without masquerading nothing that a node sends beyond the bridge ever gets an answer.
                options={
                    "com.docker.network.bridge.enable_ip_masquerade": "false",
                    "com.docker.network.bridge.host_binding_ipv4": ports.HOST,
                },
            )
        except APIError as error:
            if "overlaps" not in str(error):
                raise
            continue
        return {node: str(subnet[place]) for place, node in enumerate(nodes, 2)}
    raise EnvironmentProblem(
        "Docker found no free subnet for the cluster's network; remove unused networks and try again"
    )


def endpoint(node: str, address: str) -> Any:
    return engine.client().api.create_endpoint_config(aliases=[node], ipv4_address=address)


def attach(name: str, container: Container, node: str, is_attached: bool) -> None:
    """Put a node's container on the network, under its old address, or take it off."""
    is_on = name in container.attrs["NetworkSettings"]["Networks"]
    if is_on == is_attached:
        return
    network = engine.client().networks.get(name)
    if is_attached:
        hosts = dict(entry.split(":", 1) for entry in container.attrs["HostConfig"]["ExtraHosts"])
        network.connect(container, aliases=[node], ipv4_address=hosts[node])
    else:
        network.disconnect(container, force=True)


def _free_subnet(name: str, labels: Mapping[str, str]) -> IPv4Network:
    client = engine.client()
    probe = client.networks.create(f"{name}-probe", driver="bridge", labels=dict(labels))
    try:
        probe.reload()
        return IPv4Network(probe.attrs["IPAM"]["Config"][0]["Subnet"])
    finally:
        probe.remove()
