"""An overlay as an SVG: brokers by role, links off the brokers' own tree dashed, slow ones told by their delay."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from controller.topology.gallery import nets, trees
from controller.topology.gallery.boxes import HEIGHT_PX, LETTER_PX, PAD_PX, Places, Point, width_px
from controller.topology.model import Topology

FILLS = ("#cfe8f3", "#d5f0d0", "#fdf3c7", "#f3d4ee", "#d4dcf7", "#f7d4d4")
STYLE = """<style>
text { font: 11px sans-serif; text-anchor: middle; dominant-baseline: central; fill: #222 }
.legend { text-anchor: start }
line { stroke: #667; stroke-width: 1.3 }
.off { stroke-dasharray: 4 3; stroke: #99a }
rect { stroke: #667 }
.together { fill: #f1f1f4; stroke: #c4c4cc }
</style>"""
MARGIN_PX = 24.0
LEGEND_PX = 34.0


def places(topology: Topology) -> Places:
    """The first way that fits the overlay's shape."""
    for way in (trees.line, trees.star, nets.ring, nets.grid, trees.tree, nets.groups, nets.domains):
        found = way(topology)
        if found is not None:
            return found
    return nets.by_distance(topology)


def svg(topology: Topology) -> str:
    found = _moved_into_sight(places(topology))
    fill = {role: FILLS[number % len(FILLS)] for number, role in enumerate(topology.roles)}
    right = max(x + width_px(name) / 2 for name, (x, _) in found.items())
    legend, legend_right = _legend(fill, max(y for _, y in found.values()) + HEIGHT_PX / 2 + LEGEND_PX)
    width = max(right, legend_right) + MARGIN_PX
    height = max(y for _, y in found.values()) + HEIGHT_PX / 2 + LEGEND_PX + MARGIN_PX
    told = quoteattr(f"{topology.name}: {topology.description}")
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={told}>',
        STYLE,
        f'<rect width="{width:.0f}" height="{height:.0f}" style="fill:#fff;stroke:none"/>',
        *(_behind(names, found) for names in _together(topology)),
        *(_link(topology, a, b, found) for a, b in ((link.a, link.b) for link in topology.links)),
        *(_broker(broker.name, fill[broker.role], found) for broker in topology.brokers),
        *legend,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _moved_into_sight(found: Places) -> Places:
    left = min(x - width_px(name) / 2 for name, (x, _) in found.items())
    top = min(y - HEIGHT_PX / 2 for _, y in found.values())
    return {name: (x - left + MARGIN_PX, y - top + MARGIN_PX) for name, (x, y) in found.items()}


def _together(topology: Topology) -> list[list[str]]:
    """Brokers that a common ground shows to belong together: interchangeable ones, and those of one domain."""
    if len(topology.groups) < len(topology.brokers):
        shared = [[one.name for one in topology.group(group)] for group in topology.groups]
        return [names for names in shared if len(names) > 1]
    named: dict[str, list[str]] = {}
    for broker in topology.brokers:
        if broker.role in ("transit", "stub"):
            named.setdefault(nets.domain_of(broker.name), []).append(broker.name)
    return list(named.values())


def _behind(names: list[str], found: Places) -> str:
    left = min(found[name][0] - width_px(name) / 2 for name in names) - 5
    right = max(found[name][0] + width_px(name) / 2 for name in names) + 5
    top = min(found[name][1] for name in names) - HEIGHT_PX / 2 - 5
    bottom = max(found[name][1] for name in names) + HEIGHT_PX / 2 + 5
    size = f'width="{right - left:.1f}" height="{bottom - top:.1f}"'
    return f'<rect class="together" x="{left:.1f}" y="{top:.1f}" {size} rx="9"/>'


def _link(topology: Topology, a: str, b: str, found: Places) -> str:
    (ax, ay), (bx, by) = found[a], found[b]
    off = "" if (min(a, b), max(a, b)) in topology.tree else ' class="off"'
    return f'<line{off} x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}"/>'


def _broker(name: str, fill: str, found: Places) -> str:
    return _box(name, found[name], width_px(name), fill)


def _box(text: str, middle: Point, width: float, fill: str) -> str:
    x, y = middle
    size = f'width="{width:.1f}" height="{HEIGHT_PX:g}"'
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y - HEIGHT_PX / 2:.1f}" {size} rx="6" fill="{fill}"/>'
        f'<text x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
    )


def _legend(fill: dict[str, str], y: float) -> tuple[list[str], float]:
    made = []
    x = MARGIN_PX
    for role, colour in fill.items():
        made.append(f'<rect x="{x:.1f}" y="{y - 6:.1f}" width="12" height="12" rx="3" fill="{colour}"/>')
        made.append(f'<text class="legend" x="{x + 18:.1f}" y="{y:.1f}">{escape(role)}</text>')
        x += 18 + len(role) * LETTER_PX + PAD_PX
    return made, x
