"""A simulated run with a burst: one wide subscription covers a few hundred, and is then cancelled."""

from __future__ import annotations

from pathlib import Path

from controller.campaigns import model, run
from controller.progress import Silent
from controller.workloads.plans import Advertise, AnyOperation, Attach, Plan, Publish, Subscribe, Unsubscribe

NARROW = 300
CONTROL_US = 400
CANCELLED_MS = 1000


def plan() -> Plan:
    """A publisher at b1; at b3 first the narrow ones, then the wide one that covers them, then it alone goes."""
    at: list[AnyOperation] = [
        Attach(phase="warm", at_ms=0, client="p", broker="b1"),
        Attach(phase="warm", at_ms=0, client="c", broker="b3"),
        Attach(phase="warm", at_ms=0, client="w", broker="b3"),
        Advertise(phase="warm", at_ms=1, client="p", adv="a1", filter="x >= 0"),
        Subscribe(phase="warm", at_ms=500, client="w", sub="wide", filter="x >= 0"),
    ]
    at += [Subscribe(phase="warm", at_ms=1000 + i, client="c", sub=f"s{i}", filter=f"x = {i}") for i in range(NARROW)]
    at += [Publish(phase="load", at_ms=20 * i, client="p", content={"x": i % NARROW}) for i in range(150)]
    at.append(Unsubscribe(phase="load", at_ms=CANCELLED_MS, client="w", sub="wide"))
    at.append(Publish(phase="final", at_ms=0, client="p", content={"x": 7}))
    return Plan.of(at)


def burst(directory: Path) -> Path:
    """Deliveries of what is published meanwhile are late: each of the brokers has hundreds of messages to see to."""
    overrides = {"faults": "[]", "phases": "{warm_s: 2, load_s: 4}", "sim": f"{{control_us: {CONTROL_US}}}"}
    (spec,) = model.runs(model.load("smoke", overrides))
    plans = run.split(plan())
    ran = run.carry_out(spec, run.cluster_spec(spec, "sim", (), (), directory, "burst", plans=plans), Silent())
    assert ran.outcome == "complete", ran.why
    return directory
