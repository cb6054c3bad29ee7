"""docs/workloads.md, written from the types of the parameters: `python -m controller.workloads.describing`."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from controller import parameters, workloads
from controller.workloads import churns, laws, moves
from controller.workloads.load import Load

HEAD = """\
# Workloads

Written by `make docs` from `controller/workloads`. A campaign's `workload` names a kind and gives it parameters:

    workload:
      kind: attributes
      subscriptions: 200
      rate_hz: 80
      churn: [{kind: poisson, hz: 5}, {kind: flash-crowd, at_s: 4, clients: 100}]
      moves: {kind: commuters, share: 0.2}

Everything that clients do is planned before the run, from the seed alone: the same seed gives the same plan on every
runtime and under every scheme. Publications go out at their intended times whatever the network does, or later if it
lets nobody publish; both times are in the log. `brokerlab workload show KIND --set KEY=VALUE` shows samples, what
happens when, how much matches, what covers what, and who goes where.
"""
LAWS = """\
## Laws

`name_law` and `value_law` are a law's name, or a law with its parameter: `{law: zipf, theta: 1.5}`.
"""


def page() -> str:
    parts = [HEAD, "## What all kinds have", _table(Load, ())]
    common = [field.name for field in msgspec.structs.fields(Load)]
    for name, kind in workloads.KINDS.items():
        parts += [f"## {name}", _sentence(kind.summary), _table(kind.Parameters, common)]
    for title, models in (("churn", churns.MODELS), ("moves", moves.MODELS)):
        for name, model in models.items():
            parts += [f"## {title}: {name}", model.summary(), _table(model, ())]
    parts.append(LAWS.rstrip())
    for law in (laws.Uniform, laws.Zipf, laws.Pareto, laws.Gaussian):
        rows = _rows(law, ())
        parts.append(f"`{law.__struct_config__.tag}`: {law.__doc__}" + (f"\n\n{_table(law, ())}" if rows else ""))
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _table(kind: type[Struct], without: Any) -> str:
    return "\n".join(["| parameter | default | range | meaning |", "|---|---|---|---|", *_rows(kind, without)])


def _rows(kind: type[Struct], without: Any) -> list[str]:
    return [
        f"| `{one['name']}` | {_default(one['default'])} | {parameters.told_range(one)} | {one['meaning']} |"
        for one in parameters.described(kind)
        if one["name"] != "kind" and one["name"] not in without
    ]


def _default(value: Any) -> str:
    if value is None or value == []:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


if __name__ == "__main__":
    print(page(), end="")
