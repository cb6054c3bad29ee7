"""The overlay as a picture: what each broker sent on each of its links, who died, what was cut.

The half of a link next to a broker shows what that broker sent over it, so both directions are seen in one line.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from markupsafe import Markup

from controller.audit.report.layout import LABEL_LETTERS_MAX, WIDE_PX, Layout, lay_out
from controller.audit.report.model import Broker, Fault, Link, Load, RunData
from controller.audit.report.scales import round_steps
from controller.audit.report.svg import element, group, percent
from controller.text import clean, count, natural, plural, volume

STEPS = 5


@dataclass(frozen=True)
class LoadStep:
    level: int
    text: str


@dataclass(frozen=True)
class Drawing:
    svg: Markup
    layout: Layout
    steps: list[LoadStep]
    marks: list[str]


def draw(data: RunData) -> Drawing | None:
    if not data.brokers:
        return None
    layout = lay_out(data.brokers, data.links)
    bounds = _bounds(data)
    broker_faults, link_faults = _by_subject(data)
    parts = [_link(link, data, layout, bounds) for link in data.links if _placed(link, layout)]
    marks = [
        _mark(link_faults[link], layout.places[link.a], layout.places[link.b], link)
        for link in data.links
        if link in link_faults and _placed(link, layout)
    ]
    nodes = [_broker(broker, layout, broker_faults.get(broker.name, []), data) for broker in data.brokers]
    svg = element(
        "svg",
        element("title", "The overlay with the load of its links"),
        group(parts, class_="links"),
        group(marks),
        group(nodes),
        class_=f"overlay {layout.shape}" + (" dense" if len(data.brokers) > 40 else ""),
        role="img",
        aria_label=_described(data),
        width="100%",
        height=layout.height_px,
    )
    return Drawing(svg, layout, _steps(bounds), _marks_used(broker_faults, link_faults))


def _described(data: RunData) -> str:
    busiest = max(data.loads, key=lambda key: data.loads[key].messages, default=None)
    text = f"{plural(len(data.brokers), 'broker')}, {plural(len(data.links), 'link')}."
    if busiest:
        text += f" Most messages: {busiest[0]} to {busiest[1]}, {count(data.loads[busiest].messages)}."
    return text


def _placed(link: Link, layout: Layout) -> bool:
    return link.a in layout.places and link.b in layout.places


def _bounds(data: RunData) -> list[int]:
    """Upper ends of the load steps; a wide spread of loads gets steps that multiply instead of add."""
    loads = [
        load.messages
        for link in data.links
        for pair in ((link.a, link.b), (link.b, link.a))
        if (load := data.loads.get(pair)) and load.messages > 0
    ]
    if not loads:
        return []
    low, high = min(loads), max(loads)
    if high / low > 30 and high >= 10**2:
        ratio = (high / low) ** (1 / STEPS)
        return sorted({_rounded_up(low * ratio**step) for step in range(1, STEPS + 1)})
    steps = [math.ceil(step) for step in round_steps(0, high, STEPS) if step > 0]
    return sorted({*(step for step in steps if step < high), _rounded_up(high)})[-STEPS - 1 :]


def _rounded_up(value: float) -> int:
    if value < 10:
        return math.ceil(value)
    magnitude = 10 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / magnitude - 1e-9) * magnitude


def _level(messages: int, bounds: list[int]) -> int:
    if messages <= 0 or not bounds:
        return 0
    return min(STEPS, 1 + sum(messages > bound for bound in bounds[:-1]))


def _steps(bounds: list[int]) -> list[LoadStep]:
    steps = [LoadStep(0, "none")]
    below = 0
    for bound in bounds:
        text = count(bound) if bound == below + 1 else f"{count(below + 1)}–{count(bound)}"
        steps.append(LoadStep(_level(bound, bounds), text))
        below = bound
    return steps


def _by_subject(data: RunData) -> tuple[dict[str, list[Fault]], dict[Link, list[Fault]]]:
    brokers: dict[str, list[Fault]] = {}
    by_target = {f"link:{a}-{b}": link for link in data.links for a, b in ((link.a, link.b), (link.b, link.a))}
    links: dict[Link, list[Fault]] = {}
    for fault in data.faults:
        if fault.target.startswith("broker:"):
            brokers.setdefault(fault.subject, []).append(fault)
        elif link := by_target.get(fault.target):
            links.setdefault(link, []).append(fault)
    return brokers, links


def _marks_used(brokers: dict[str, list[Fault]], links: dict[Link, list[Fault]]) -> list[str]:
    used = {f"broker-{fault.family}" for faults in brokers.values() for fault in faults}
    used |= {f"link-{fault.family}" for faults in links.values() for fault in faults}
    return sorted(used)


def _link(link: Link, data: RunData, layout: Layout, bounds: list[int]) -> Markup:
    (ax, ay), (bx, by) = layout.places[link.a], layout.places[link.b]
    middle = ((ax + bx) / 2, (ay + by) / 2)
    there, back = data.loads.get((link.a, link.b)), data.loads.get((link.b, link.a))
    title = f"{_told(link.a, link.b, there)}\n{_told(link.b, link.a, back)}"
    if link.delay_ms:
        title += f"\ndelay {link.delay_ms:g} ms"
    halves = [
        _half((ax, ay), middle, _level(there.messages if there else 0, bounds)),
        _half((bx, by), middle, _level(back.messages if back else 0, bounds)),
    ]
    reach = element("line", x1=percent(ax), y1=percent(ay), x2=percent(bx), y2=percent(by), class_="reach")
    return group([element("title", title), reach, *halves], class_="link", data_a=link.a, data_b=link.b)


def _half(start: tuple[float, float], end: tuple[float, float], level: int) -> Markup:
    return element(
        "line",
        x1=percent(start[0]),
        y1=percent(start[1]),
        x2=percent(end[0]),
        y2=percent(end[1]),
        class_=f"load load-{level}",
    )


def _told(a: str, b: str, load: Load | None) -> str:
    if load is None:
        return f"{a} → {b}: nothing"
    return f"{a} → {b}: {plural(load.publications, 'publication')}, {count(load.control)} control, {volume(load.bytes)}"


def _mark(faults: list[Fault], a: tuple[float, float], b: tuple[float, float], link: Link) -> Markup:
    family = "cut" if any(fault.family == "cut" for fault in faults) else faults[0].family
    title = f"{link.a}–{link.b}: " + _fault_words(faults)
    return element(
        "svg",
        element("title", title),
        *mark_shape(f"link-{family}"),
        x=percent((a[0] + b[0]) / 2),
        y=percent((a[1] + b[1]) / 2),
        class_=f"mark mark-{family}",
        data_targets=f"link:{link.a}-{link.b} link:{link.b}-{link.a}",
        overflow="visible",
    )


def mark_shape(name: str) -> list[Markup]:
    """The sign for a fault, around the origin; the legend uses the same ones."""
    place, _, family = name.partition("-")
    disc = element("circle", r=8, class_="disc")
    if family == "death":
        return [element("path", d="M-4.5-4.5 4.5 4.5M-4.5 4.5 4.5-4.5", class_="stroke")]
    if family == "stop":
        return [element("path", d="M-2.5-4V4M2.5-4V4", class_="stroke")]
    if family == "cut":
        return [disc, element("path", d="M-4 4.5 1-4.5M-1 4.5 4-4.5", class_="stroke")]
    if family == "slow":
        sign = element("path", d="M0-4.5V0L3 2", class_="stroke")
        return [disc, sign] if place == "link" else [sign]
    return [disc, element("path", d="M0-4V1M0 3.5V4", class_="stroke")]


def _fault_words(faults: list[Fault]) -> str:
    kinds = Counter(fault.kind for fault in faults)
    return ", ".join(f"{kind} × {times}" if times > 1 else kind for kind, times in sorted(kinds.items()))


def _broker(broker: Broker, layout: Layout, faults: list[Fault], data: RunData) -> Markup:
    size = len(data.brokers)
    radius = 9.0 if size <= 40 else 6.5 if size <= 100 else 4.5
    families = [fault.family for fault in faults]
    family = "death" if "death" in families else families[0] if families else None
    x, y = layout.places[broker.name]
    body = element("circle", r=radius, class_="body")
    if family:
        sign = [element("circle", r=10, class_="body"), mark_shape(f"broker-{family}")[-1]]
        body = group(sign, transform=None if size <= 40 else "scale(.7)")
    label = _label(broker.name, layout, radius + (2 if family else 0), size)
    role = "leaf" if broker.role in ("leaf", "edge", "stub", "outer") else "inner"
    return element(
        "svg",
        element("title", _broker_words(broker, faults, data)),
        body,
        label,
        x=percent(x),
        y=percent(y),
        class_=f"broker {role}" + (f" mark mark-{family}" if family else ""),
        data_node=broker.name,
        overflow="visible",
    )


def _broker_words(broker: Broker, faults: list[Fault], data: RunData) -> str:
    words = [broker.name, broker.role, f"group {broker.group}" if broker.group else "", _fault_words(faults)]
    handled = sum(point.handled for point in data.queue.get(broker.name, ()))
    words.append(f"handled {plural(handled, 'message')}" if handled else "")
    return " · ".join(word for word in words if word)


def _label(name: str, layout: Layout, radius: float, size: int) -> Markup:
    text = clean(name, LABEL_LETTERS_MAX)
    side = layout.sides[name]
    small = "small" if size > 60 else None
    if side == "outward":
        return _outward_label(text, layout, layout.places[name], radius)
    if side == "right":
        return element("text", text, x=radius + 5, y=4, class_=small)
    if side == "left":
        return element("text", text, x=-radius - 5, y=4, text_anchor="end", class_=small)
    y = -radius - 6 if side == "above" else radius + 15
    classes = " ".join(word for word in (small, "staggered" if name in layout.staggered else None) if word)
    return element("text", text, y=y, text_anchor="middle", class_=classes or None)


def _outward_label(text: str, layout: Layout, place: tuple[float, float], radius: float) -> Markup:
    angle = math.degrees(math.atan2((place[1] - 0.5) * layout.height_px, (place[0] - 0.5) * WIDE_PX))
    turned = abs(angle) > 90
    rotation = angle + 180 if turned else angle
    return element(
        "text",
        text,
        x=-(radius + 4) if turned else radius + 4,
        y=3.5,
        text_anchor="end" if turned else "start",
        transform=f"rotate({rotation:.0f})",
        class_="small",
    )


def busiest_links(data: RunData, limit: int) -> list[tuple[str, str, Load]]:
    """Links between brokers, most messages first."""
    known = {broker.name for broker in data.brokers}
    pairs = [pair for pair in data.loads if pair[0] in known and pair[1] in known] if known else list(data.loads)
    pairs.sort(key=lambda pair: (-data.loads[pair].messages, natural(pair[0]), natural(pair[1])))
    return [(a, b, data.loads[a, b]) for a, b in pairs[:limit]]
