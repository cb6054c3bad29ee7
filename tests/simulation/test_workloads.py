"""Every workload, with whoever comes, goes and moves, through a whole simulated run to its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller import workloads
from controller.campaigns import model
from controller.campaigns.model import RunSpec
from controller.campaigns.rehearsal import rehearse
from controller.judge import reading
from node.core.records import Attach, Deliver

CAMPAIGN = """\
name: any-workload
topology: star-5
scheme: simple
workload:
  kind: KIND
  subscriptions: 40
  clients: 16
  rate_hz: 25
  arrivals: poisson
  churn:
    - {kind: poisson, hz: 4}
    - {kind: bursts, at_s: 1, every_s: 3, subscriptions: 10}
    - {kind: storms, at_s: 0.5, every_s: 3, subscriptions: 10}
    - {kind: flash-crowd, at_s: 2, clients: 10, within_s: 0.5, for_s: 2}
  moves:
    - {kind: random-walk, share: 0.3, stays_s: 2}
    - {kind: commuters, share: 0.3, day_s: 7.5}
faults: [{kind: delay, target: "link:*", delay_ms: 20}, {kind: cut, target: "link:random:1", at_s: 3, for_s: 2}]
phases: {warm_s: 1, load_s: 6, heal_s: 5}
"""


def spec(tmp_path: Path, kind: str, **overrides: str) -> RunSpec:
    path = tmp_path / "c.yaml"
    text = CAMPAIGN.replace("KIND", kind)
    if kind == "covering-roots":
        text = text.replace("  churn:\n", "  groups: 8\n  churn:\n    - {kind: roots, every_s: 0.5, cancelled: 6}\n")
    if kind == "xpath":
        text = text.replace("  churn:\n", "  elements: 20\n  churn:\n")
    path.write_text(text)
    (one,) = model.runs(model.load(path, overrides))
    return one


@pytest.mark.parametrize("kind", workloads.names())
def test_every_workload_passes_under_the_plainest_scheme(tmp_path: Path, kind: str) -> None:
    judged = rehearse(spec(tmp_path, kind)).judgement()
    assert judged.verdict == "pass" and judged.excused == 0, judged.told()
    assert judged.pairs_required > 100


def test_who_moves_gets_messages_wherever_it_is(tmp_path: Path) -> None:
    moving = "{kind: random-walk, share: 1, stays_s: 1, linger_ms: 500}"
    rehearsed = rehearse(spec(tmp_path, "attributes", **{"workload.moves": moving, "workload.churn": "[]"}))
    told = reading.records(data for name, data in rehearsed.logs.items() if name.startswith("driver"))
    came = {(one.client, one.broker) for one in told if isinstance(one, Attach)}
    got = {(one.client, one.broker) for one in told if isinstance(one, Deliver)}
    moved = {pair for pair in came if sum(client == pair[0] for client, _ in came) > 2}
    assert len(moved) > 30
    assert len(moved & got) > 0.8 * len(moved)
    judged = rehearsed.judgement()
    assert judged.verdict == "pass" and judged.pairs_required > 200, judged.told()
