"""A story as lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from controller.explain.judging import Judgement
from controller.explain.story import Story, Visit

CONTENT_SHOWN_MAX = 300
_NS_PER_S = 1_000_000_000


def lines(story: Story) -> Iterator[str]:
    content = story.content if isinstance(story.content, str) else json.dumps(story.content, ensure_ascii=False)
    yield f"{story.msg}: published by {story.publisher} at {story.broker}, {_clock(story.t)}"
    if story.t > story.intended_t:
        yield f"  {_ms(story.t - story.intended_t)} later than intended"
    yield f"  {_printable(content[:CONTENT_SHOWN_MAX])}"
    for judgement in story.judgements:
        yield from _judgement(judgement)
    if story.judgements_left_out:
        yield f"and {story.judgements_left_out} more subscriptions"
    if not story.judgements:
        yield "no subscription matches it, and nobody got it"
    yield ""
    if story.silence is not None:
        yield f"the way: not known, {story.silence}"
    elif not story.visits:
        yield "the way: no broker handled it"
    else:
        yield f"the way{': ' + ' > '.join(story.way) if story.way else ''}"
    for visit in story.visits:
        yield from _visit(visit, story.t)
    if story.ended:
        yield f"it ended {story.ended}"
    for fault in story.faults:
        begin = _after(fault.apply_t - story.t)
        end = _after(fault.heal_t - story.t) if fault.heal_t is not None else "the end"
        yield f"fault on the way: {fault.kind} of {fault.target} ({fault.fault}), {begin} to {end}"
    if story.damaged:
        yield f"the logs of {', '.join(story.damaged)} are damaged: what they left out is not known"


def _judgement(one: Judgement) -> Iterator[str]:
    took = f" after {_ms(one.delay_ns)}" if one.delay_ns is not None else ""
    excuse = f", excused by {one.excused_by}" if one.excused_by else ""
    yield f"{one.sub} ({one.filter}) of {one.client} at {one.broker}: {one.duty}, {one.outcome}{took}{excuse}"
    yield f"  because {one.why}"


def _visit(visit: Visit, published_t: int) -> Iterator[str]:
    sent = f", sent it to {', '.join(visit.to_brokers)}" if visit.to_brokers else ""
    given = f", gave it to {', '.join(visit.to_clients)}" if visit.to_clients else ""
    kept = "" if sent or given else ", sent it to nobody"
    life = f" (life {visit.inc})" if visit.inc > 1 else ""
    yield (
        f"  {_after(visit.t - published_t):>12}  {visit.broker}{life} had it from {visit.came_from}: waited "
        f"{_ms(visit.wait_ns)}, worked {_ms(visit.work_ns)}{sent}{given}{kept}"
    )
    if visit.table is not None:
        yield f"  {'':>12}  its table held {visit.table} entries"
    for told in visit.knew:
        yield f"  {'':>12}  knew of the subscription: {told}"


def _ms(ns: int) -> str:
    return f"{ns / _NS_PER_S:.3f} s" if ns >= _NS_PER_S else f"{ns / 1e6:.3f} ms"


def _after(ns: int) -> str:
    return ("+" if ns >= 0 else "-") + _ms(abs(ns))


def _clock(t: int) -> str:
    return datetime.fromtimestamp(t // _NS_PER_S, UTC).strftime("%Y-%m-%d %H:%M:%S") + f".{t % _NS_PER_S:09d} UTC"


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
