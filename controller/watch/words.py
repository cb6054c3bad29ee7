"""States and shapes in the words of tables and drawings."""

from __future__ import annotations

import msgspec

from controller.watch.model import BrokerView, LinkView
from node.shaping import Shape

NAMES_MAX = 3


def broker_state(broker: BrokerView) -> str:
    if broker.state != "not ready" or not broker.waiting_for:
        return broker.state
    return f"waits for {listed(broker.waiting_for)}"


def link_state(link: LinkView) -> str:
    return link.why or link.state


def link_treatment(link: LinkView) -> str:
    """What its frames suffer, by direction where the directions differ."""
    if link.forth is None or link.back is None:
        known = link.forth or link.back
        return treatment(known) if known is not None else ""
    forth, back = treatment(link.forth), treatment(link.back)
    if forth == back:
        return forth
    ways = [f"→ {forth}" if forth else "", f"← {back}" if back else ""]
    return "; ".join(way for way in ways if way)


def treatment(shape: Shape) -> str:
    words = []
    if shape.delay_ms or shape.jitter_ms:
        words.append(f"{shape.delay_ms:g}" + (f"+{shape.jitter_ms:g}" if shape.jitter_ms else "") + " ms")
    for name in ("loss", "duplicate", "reorder"):
        share = getattr(shape, name)
        words += [f"{name} {share:.3g}" if 0 < share < 0.001 else f"{name} {100 * share:g} %"] if share else []
    if shape.rate_kbps is not None:
        words.append(f"{shape.rate_kbps:g} kbit/s")
    if shape.flap_down_ms:
        words.append(f"flaps {shape.flap_up_ms:g}/{shape.flap_down_ms:g} ms")
    return ", ".join(words)


def is_plain(link: LinkView) -> bool:
    """Nothing to be told of it."""
    return link.state == "up" and not link.faults and not link.is_changed


def listed(names: tuple[str, ...] | list[str], count: int = NAMES_MAX) -> str:
    more = f" and {len(names) - count} more" if len(names) > count else ""
    return ", ".join(names[:count]) + more


def number(value: float | None) -> str:
    """Short enough for a column: 12, 1,234, 45.6k, 7.8M."""
    if value is None:
        return "-"
    if value < 10_000:
        return f"{value:,.0f}"
    return f"{value / 1e6:,.1f}M" if value >= 999_950 else f"{value / 1e3:.1f}k"


def age(seconds: float) -> str:
    """As `docker ps` says it: one unit, two where the second one matters."""
    seconds = max(0, int(seconds))
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest_s = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min" + (f" {rest_s} s" if minutes < 10 and rest_s else "")
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h" + (f" {minutes} min" if minutes else "")
    return f"{hours // 24} days"


def shape_from(status: dict[str, object]) -> Shape:
    """Of the link as a broker's status tells it, whatever else it tells."""
    return msgspec.convert({name: status[name] for name in Shape.__struct_fields__ if name in status}, Shape)
