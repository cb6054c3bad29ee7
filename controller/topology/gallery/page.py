"""docs/topologies.md and its drawings: `brokerlab topology gallery`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from controller import topology as topologies
from controller.topology.files import DIRECTORY
from controller.topology.gallery.nets import hops_from
from controller.topology.gallery.picture import svg
from controller.topology.generators import GENERATORS
from controller.topology.model import Topology

PAGE = "topologies.md"
FOLDER = "topologies"
HEAD = """\
# Topologies

Written by `make docs` (`brokerlab topology gallery`). A campaign names a ready overlay (`topology: tree-13`), a file,
or a generator with arguments (`topology: {generate: grid, rows: 4}`). `brokerlab topology show NAME` draws one in the
terminal, `brokerlab topology import FILE` makes one of a network in GraphML or GML.

In the drawings colours are roles, a grey ground holds brokers of one domain or interchangeable ones, and dashed links
are those that the brokers' own spanning tree leaves out, which schemes that need a tree do without.
"""


@cache
def files() -> dict[str, str]:
    """Path below docs → what stands there."""
    ready = [topologies.load(name) for name in topologies.names()]
    made = {name: one.make(one.Parameters()) for name, one in GENERATORS.items()}
    parts = [HEAD, "## Ready ones"]
    for one in ready:
        parts += [f"### {one.name}", _told(one, one.name), _origin(one.name)]
    parts.append("## Generators, with their defaults")
    for name, one in made.items():
        told = GENERATORS[name].summary
        parts += [f"### {name}", f"{told[:1].upper()}{told[1:]}.", _told(one, _drawing_of(name, one))]
        parts.append(f"`brokerlab topology generate {name}`; `--help` tells its parameters.")
    drawings = {f"{FOLDER}/{one.name}.svg": svg(one) for one in ready}
    for name, one in made.items():
        path = f"{FOLDER}/{_drawing_of(name, one)}.svg"
        drawings[path] = drawings.get(path) or svg(one)
    return {PAGE: "\n\n".join(part.rstrip("\n") for part in parts) + "\n", **drawings}


def write(docs: Path) -> list[Path]:
    """Returns what was written; drawings of topologies that are no more are removed."""
    made = files()
    folder = docs / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        if f"{FOLDER}/{old.name}" not in made:
            old.unlink()
    for path, text in made.items():
        (docs / path).write_text(text)
    return [docs / path for path in made]


def _drawing_of(generator: str, made: Topology) -> str:
    """The ready one's, where the defaults are just that."""
    is_ready = made.name in topologies.names() and topologies.load(made.name).links == made.links
    return made.name if is_ready else f"generate-{generator}"


def _told(one: Topology, drawing: str) -> str:
    degrees = [len(one.neighbours(name)) for name in one.broker_names]
    longest = max(max(hops_from(one, name).values()) for name in one.broker_names)
    delays = sorted({link.delay_ms for link in one.links})
    delay = "none" if delays == [0] else " to ".join(f"{edge:g}" for edge in dict.fromkeys(delays[:1] + delays[-1:]))
    shape = "a tree" if one.is_tree else f"no tree, which leaves out {len(one.left_out)}"
    row = {
        "brokers": len(one.brokers),
        "links": f"{len(one.links)}: {shape}",
        "degree": f"{min(degrees)} to {max(degrees)}, {sum(degrees) / len(degrees):.1f} on average",
        "diameter": f"{longest} links",
        "delays, ms": delay,
        "roles": ", ".join(one.roles),
    }
    table = [f"| {' | '.join(map(str, cells))} |" for cells in (row, ["---"] * len(row), row.values())]
    told = f"{one.description[:1].upper()}{one.description[1:]}."
    return "\n".join([told, "", f"![{one.name}]({FOLDER}/{drawing}.svg)", "", *table])


def _origin(name: str) -> str:
    first = (DIRECTORY / f"{name}.yaml").read_text().splitlines()[0]
    return f"Made by `{first[2:]}`." if first.startswith("# brokerlab ") else "Written by hand."
