"""A run as it goes on: a line now and then on stderr, the last state on stdout, also after Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from controller import progress
from controller.errors import EnvironmentProblem

if TYPE_CHECKING:
    from controller.follow import State

_QUEUES_SHOWN = 3


def watch(run: Path, spark_master: str | None) -> None:
    """Until the controller has closed its log."""
    from controller.follow import Followed, follow

    last: State | None = None
    with progress.for_stderr().bar("follow") as bar:

        def look(state: State) -> None:
            nonlocal last
            last = state
            bar.to(state.delivered, told(state))

        bar.to(0, "starting Spark")
        try:
            follow(run, look, spark_master)
        except Followed as why:
            raise EnvironmentProblem(f"{run} cannot be followed: {why}") from None
        finally:
            if last is not None:
                click.echo(f"followed: {told(last)}")


def told(state: State) -> str:
    counted = [
        (state.published, "published"), (state.delivered, "delivered"), (state.waiting, "under way"),
        (state.missing, "missing"), (state.excused, "excused"), (state.duplicates, "doubled"), (state.late, "late"),
    ]  # fmt: skip
    parts = [
        f"{number:,} {what}" for number, what in counted if number or what in ("published", "delivered", "missing")
    ]
    if state.delay_p99_ns is not None:
        parts.append(f"delays p50 {_ms(state.delay_p50_ns)}, p99 {_ms(state.delay_p99_ns)}")
    longest = sorted(((depth, node) for node, depth in state.queues_now.items() if depth), reverse=True)
    parts += [f"queue of {node} {depth:,}" for depth, node in longest[:_QUEUES_SHOWN]]
    return "; ".join(parts)


def _ms(ns: int | None) -> str:
    return "?" if ns is None else f"{ns / 1e6:.1f} ms"
