"""Rows and columns, each broker linked to those beside, above and below it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from controller.topology.generators.base import Generator, by_degree, check_size
from controller.topology.generators.links import LinkParameters, linked
from controller.topology.model import Topology


class GridParameters(LinkParameters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rows: Annotated[int, Meta(ge=1, le=1000, description="Rows.")] = 5
    columns: Annotated[int, Meta(ge=1, le=1000, description="Columns.")] = 5


class Grid(Generator):
    name = "grid"
    summary = "a grid, each broker linked to those beside, above and below it"
    Parameters = GridParameters

    def make(self, parameters: GridParameters) -> Topology:
        rows, columns = parameters.rows, parameters.columns
        check_size(rows * columns)
        name = {(row, column): f"b{row}_{column}" for row in range(1, rows + 1) for column in range(1, columns + 1)}
        edges = [
            (name[place], name[beside])
            for place in name
            for beside in ((place[0], place[1] + 1), (place[0] + 1, place[1]))
            if beside in name
        ]
        told = f"a grid of {rows} rows and {columns} columns"
        brokers = by_degree(list(name.values()), edges)
        return Topology(f"grid-{rows}x{columns}", told, brokers, linked(edges, parameters, self.name))
