"""Our journal beside structlog's fastest way to write JSON, and a bare write of the same bytes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog

from node.core import records
from node.journal import Journal, open_journal
from node.worker import BATCH_ITEMS
from tests.bench.measure import Effort, Figure, Say, Section, per_second, race


def measure(effort: Effort, say: Say) -> Section:
    with tempfile.TemporaryDirectory(prefix="brokerlab-bench-") as folder:
        where = Path(folder)
        journal = open_journal(folder, "b1", 1, time.time_ns)
        write_batch(journal)
        line = (where / "b1.1.jsonl").read_bytes()
        with (where / "bare").open("wb", buffering=0) as bare, (where / "structlog").open("wb") as other:
            best = race(
                {
                    "bare": per_second(lambda: BATCH_ITEMS if bare.write(line) else 0, effort.run_s),
                    "journal": per_second(lambda: write_batch(journal), effort.run_s),
                    "structlog": per_second(structlog_batch(other), effort.run_s),
                },
                effort,
            )
        journal.close()
    return Section(
        f"Journal: `forward` records of {len(line) // BATCH_ITEMS} bytes, one write per {BATCH_ITEMS}",
        [
            Figure("bare write of the same bytes", best["bare"], "records/s"),
            Figure("journal", best["journal"], "records/s", best["bare"]),
            Figure("structlog's fast path, a write each", best["structlog"], "records/s", best["bare"]),
            Figure("journal, beside structlog", best["journal"], "records/s", best["structlog"]),
        ],
    )


def write_batch(journal: Journal) -> int:
    for _ in range(BATCH_ITEMS):
        journal.add(
            records.Forward,
            to="b2", kind="publication", msg="c1:123456", sub=None, adv=None, entries=0, bytes=200, cause=123456,
        )  # fmt: skip
    journal.flush()
    return BATCH_ITEMS


def structlog_batch(file: object) -> Callable[[], int]:
    log = structlog.wrap_logger(
        structlog.BytesLogger(file),  # type: ignore[arg-type]
        processors=[structlog.processors.JSONRenderer(serializer=lambda event, **_: msgspec.json.encode(event))],
        wrapper_class=structlog.make_filtering_bound_logger(20),
        cache_logger_on_first_use=True,
    ).bind()
    number = 0

    def work() -> int:
        nonlocal number
        for _ in range(BATCH_ITEMS):
            number += 1
            log.info(
                "forward",
                t=time.time_ns(), node="b1", inc=1, n=number,
                to="b2", kind="publication", msg="c1:123456", entries=0, bytes=200, cause=123456,
            )  # fmt: skip
        return BATCH_ITEMS

    return work
