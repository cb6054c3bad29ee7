"""`python -m node ROLE --config FILE`: one process of a cluster."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType

import structlog

from node.clock import SystemClock
from node.config import Config, read_config
from node.core.errors import InvariantViolation
from node.errors import NodeError
from node.security import BrokerKeys, DriverKeys, GatewayKeys, read_keys
from node.version import VERSION

Stopping = Callable[[], bool]


def _broker(config: Config, stopping: Stopping) -> None:
    from node.broker import Broker

    Broker(config, read_keys(config.keys, BrokerKeys), SystemClock()).run(stopping)


def _driver(config: Config, stopping: Stopping) -> None:
    from node.driver import Driver

    Driver(config, read_keys(config.keys, DriverKeys), SystemClock()).run(stopping)


def _gateway(config: Config, stopping: Stopping) -> None:
    from node.gateway import Gateway

    Gateway(config, read_keys(config.keys, GatewayKeys), SystemClock()).run(stopping)


ROLES: dict[str, tuple[Callable[[Config, Stopping], None], str]] = {
    "broker": (_broker, "route publications between neighbours and clients"),
    "driver": (_driver, "play a plan with many virtual clients"),
    "gateway": (_gateway, "relay between programs on the host and the nodes"),
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(64, f"{self.prog}: {message} (see `{self.prog} --help`)\n")


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="python -m node",
        description="One process of a brokerlab cluster. SIGTERM ends it in order.",
        epilog="The configuration file is described in docs/design.md, 'Names, sockets, keys'. Exit status: 0 ended by "
        "SIGTERM, 64 wrong configuration, 69 the machine lacks something (an endpoint in use), 70 the node itself is "
        "wrong.",
    )
    parser.add_argument("--version", action="version", version=VERSION)
    roles = parser.add_subparsers(dest="role", required=True, metavar="ROLE")
    for role, (_, summary) in ROLES.items():
        sub = roles.add_parser(role, help=summary, description=summary)
        sub.add_argument("--config", required=True, metavar="FILE", help="JSON configuration of this node")
    return parser.parse_args(arguments)


def _stop_on_signal() -> Stopping:
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    return lambda: bool(asked)


def _talk_to_operators() -> None:
    renderer = structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def main(arguments: list[str]) -> int:
    options = _parse(arguments)
    # numpy, if a broker comes to need it, would start a thread for each processor, for algebra that nobody does here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    stopping = _stop_on_signal()
    _talk_to_operators()
    try:
        run, _ = ROLES[options.role]
        run(read_config(options.config), stopping)
    except NodeError as error:
        print(f"{options.role}: {error}", file=sys.stderr)
        return error.exit_status
    except InvariantViolation as violation:
        structlog.get_logger().error("invariant broken", role=options.role, story=str(violation))
        return 70
    except Exception:  # noqa: BLE001  whatever gets here is a mistake of the node's, which operators must find
        structlog.get_logger().error("the node is wrong", role=options.role, story=traceback.format_exc())
        return 70
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
