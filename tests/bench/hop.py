"""One hop through a broker process, beside a bare ROUTER relay in a process of its own."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.bench.measure import Effort, Figure, Say, Section, percentile
from tests.bench.ways import MESSAGE_BYTES, BrokerWay, RelayWay, Way

PAUSE_MS = 1
PLAIN, CURVE, BROKER = "bare relay", "bare relay with CURVE", "broker"


def measure(effort: Effort, say: Say) -> Section:
    with ExitStack() as stack:
        where = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="brokerlab-bench-")))
        broker = BrokerWay(where)
        ways: dict[str, Way] = {
            PLAIN: stack.enter_context(RelayWay(where)),
            CURVE: stack.enter_context(RelayWay(where, broker.pair)),
            BROKER: stack.enter_context(broker),
        }
        return Section(
            f"One hop: {MESSAGE_BYTES}-byte publications, client to client through one process",
            [*_throughput(ways, effort, say), *_latency(ways, effort, say)],
        )


def _throughput(ways: dict[str, Way], effort: Effort, say: Say) -> list[Figure]:
    rates = dict.fromkeys(ways, 0.0)
    thrifts = dict.fromkeys(ways, 0.0)
    for repetition in range(effort.repetitions):
        say(f"hop: throughput, round {repetition + 1} of {effort.repetitions}")
        for name, way in ways.items():
            rate, thrift = _flood(way, effort.run_s)
            rates[name], thrifts[name] = max(rates[name], rate), max(thrifts[name], thrift)
    return [
        *_beside(rates, "messages/s"),
        *_beside({f"{name}, per second of its processor time": value for name, value in thrifts.items()}, "messages"),
    ]


def _flood(way: Way, run_s: float) -> tuple[float, float]:
    """Messages per second, and per second of the relaying process's processor time."""
    sent = got = 0
    cpu_before = _cpu_ns(way.pid())
    started_at = time.perf_counter_ns()
    until = started_at + round(run_s * 1e9)
    while time.perf_counter_ns() < until or got < sent:
        while way.has_room() and time.perf_counter_ns() < until:
            way.send()
            sent += 1
        got += way.take(100)
    elapsed_ns = time.perf_counter_ns() - started_at
    return got / elapsed_ns * 1e9, got / max(1, _cpu_ns(way.pid()) - cpu_before) * 1e9


def _cpu_ns(pid: int) -> int:
    """Linux numbers the processor clock of a process, all its threads together, like this."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def _latency(ways: dict[str, Way], effort: Effort, say: Say) -> list[Figure]:
    best: dict[str, tuple[int, int]] = {}
    for repetition in range(effort.repetitions):
        say(f"hop: latency, round {repetition + 1} of {effort.repetitions}")
        for name, way in ways.items():
            taken = _one_by_one(way, effort.run_s)
            best[name] = min(best.get(name, (2**62, 0)), (percentile(taken, 0.5), percentile(taken, 0.99)))
    return [
        *_beside({f"{name}, latency p50": p50 / 1000 for name, (p50, _) in best.items()}, "µs"),
        *_beside({f"{name}, latency p99": p99 / 1000 for name, (_, p99) in best.items()}, "µs"),
    ]


def _one_by_one(way: Way, run_s: float) -> list[int]:
    """A message, its arrival, a pause: what one takes when nothing else is under way."""
    taken: list[int] = []
    until = time.perf_counter_ns() + round(run_s * 1e9)
    while time.perf_counter_ns() < until or not taken:
        way.send()
        sent_at = time.perf_counter_ns()
        while not way.take(1_000):
            pass
        taken.append(time.perf_counter_ns() - sent_at)
        way.take(PAUSE_MS)
    return taken


def _beside(values: dict[str, float], unit: str) -> list[Figure]:
    (first, baseline), *others = values.items()
    return [Figure(first, baseline, unit), *(Figure(name, value, unit, baseline) for name, value in others)]
