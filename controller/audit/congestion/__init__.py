"""Where and when the network was slow, and why: delays, queues, link loads, bursts and what set them off.

The tables are described in docs/audit.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa

from controller.audit.congestion import delays, intervals, links, queues, settling
from controller.audit.congestion.intervals import Interval
from controller.audit.congestion.triggered import Triggered
from controller.audit.evidence import Evidence

Progress = Callable[[str], None]


class Congestion(NamedTuple):
    tables: dict[str, pa.Table]
    intervals: list[Interval]
    """The worst first."""


def measure(evidence: Evidence, say: Progress) -> Congestion:
    say("measuring delays and queues")
    loads = links.link_load(evidence)
    tables = {
        "delay": delays.delay(evidence),
        "delay_total": delays.delay_total(evidence),
        "delay_brokers": delays.delay_brokers(evidence),
        "queue": queues.queue(evidence),
        "work": queues.work(evidence),
        "links": links.links(loads),
        "link_load": loads,
    }
    say("tracing bursts back to their causes")
    triggered = Triggered(evidence)
    causes = triggered.by_cause()
    congested = intervals.intervals(evidence, triggered)
    tables |= {
        "triggered": causes,
        "triggered_brokers": triggered.by_broker(causes),
        "congested": intervals.table(congested),
        "settling": settling.settling(evidence.facts, causes, congested),
    }
    return Congestion(tables, congested)
