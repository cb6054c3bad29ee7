"""docs/campaigns.md, written from the ready campaigns: `python -m controller.campaigns.describing`."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.campaigns import model
from controller.campaigns.model import Campaign

HEAD = """\
# The ready campaigns

Written by `make docs` from `controller/campaigns/files`. `brokerlab campaign list` lists them; `brokerlab workload show
NAME` shows what the clients of one do, before anything runs; `brokerlab campaign run NAME` runs it and ends in a
verdict: in containers, with `--runtime process` in local processes, with `--runtime sim` in virtual time. Each is made
to pass under every scheme that promises as much as `simple` does; what a dead broker had under way is excused, and
counted. `--scheme`, `--seed`, `--topology` and `--set KEY=VALUE` put something else in place of what the file says,
also within lists (`--set faults.0.at_s=3`), and `--set 'matrix.seed={from: 1, to: 20}'` runs it for many values.

A fault comes at `at_s`, again `every_s`, or by chance `poisson_s` apart on average; it lasts `for_s`, or until the load
is over. A share of the targets (`link:random:10%`) grows with the topology; `in_turn` takes one after the other.
"""


def page() -> str:
    campaigns = list(model.listed())
    links = [f"* [{one.name}](#{one.name}): {one.description}" for one in campaigns]
    return "\n".join([HEAD, *links, "", *(_told(one) for one in campaigns)])


def _told(one: Campaign) -> str:
    data = one.document.data
    parts = [f"## {one.name}", f"{_sentence(one.description)}", *_prose(one.name)]
    phases = data["phases"]
    rows = [
        ("overlay", f"`{_text(data['topology'])}`"),
        ("scheme", f"`{data['scheme']}`"),
        *((key, f"`{_text(value)}`") for key, value in _workload(data["workload"])),
        ("phases", ", ".join(f"{key.removesuffix('_s')} {value:g} s" for key, value in phases.items())),
    ]
    table = ["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows)]
    if faults := data.get("faults"):
        listed = ["| fault | hits | when | how |", "|---|---|---|---|", *map(_fault, faults)]
    else:
        listed = ["No fault."]
    return "\n\n".join([*parts, "\n".join(table), "\n".join(listed)]) + "\n"


def _prose(name: str) -> list[str]:
    """What the file says of itself to those who read it: the comment at its head."""
    lines: list[str] = []
    for line in (model.DIRECTORY / f"{name}.yaml").read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").removeprefix(" "))
    return ["\n".join(lines)] if lines else []


def _workload(workload: dict[str, Any]) -> list[tuple[str, Any]]:
    """The models of churn and movement in rows of their own."""
    plain = {key: value for key, value in workload.items() if not isinstance(value, dict | list)}
    rows: list[tuple[str, Any]] = [("workload", plain)]
    for key in ("churn", "moves"):
        models = workload.get(key, [])
        rows += [(key, one) for one in (models if isinstance(models, list) else [models])]
    return rows


def _fault(fault: dict[str, Any]) -> str:
    when = {key: fault[key] for key in ("at_s", "every_s", "poisson_s", "for_s", "while", "in_turn") if key in fault}
    how = {key: value for key, value in fault.items() if key not in (*when, "kind", "target", "name")}
    target = str(fault["target"]).replace("|", "\\|")
    return f"| {fault['kind']} | `{target}` | {_text(when) or 'all the time'} | {_text(how)} |"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_text(one)}" for key, one in value.items())
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


if __name__ == "__main__":
    print(page(), end="")
