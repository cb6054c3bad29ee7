"""The one port of a cluster, on 127.0.0.1."""

from __future__ import annotations

import socket

from controller.errors import EnvironmentProblem

HOST = "127.0.0.1"


def check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise in_use(port, error.strerror) from None


def in_use(port: int, why: str | None = None) -> EnvironmentProblem:
    told = f" ({why})" if why else ""
    return EnvironmentProblem(
        f"port {port} on {HOST} cannot be taken{told}; choose another with --port, or leave it out for a free one"
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def endpoint(port: int) -> str:
    return f"tcp://{HOST}:{port}"
