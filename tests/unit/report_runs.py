"""Run directories as the audit leaves them, made up but of realistic shape."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

START_T = 1_767_225_600_000_000_000
S = 1_000_000_000
MS = 1_000_000

HOP = pa.struct(
    [
        ("t", pa.int64()), ("node", pa.string()), ("event", pa.string()), ("from", pa.string()),
        ("to", pa.string()), ("kind", pa.string()), ("n", pa.int64()),
    ]
)  # fmt: skip
VIOLATIONS = pa.schema(
    [
        ("check", pa.string()), ("verdict", pa.string()), ("client", pa.string()), ("msg", pa.string()),
        ("sub", pa.string()), ("t", pa.int64()), ("fault", pa.string()), ("excused", pa.bool_()),
        ("detail", pa.string()), ("path", pa.list_(HOP)),
    ]
)  # fmt: skip

SIDES = ("north", "east", "south")
TREE_13 = {
    "brokers": [
        {"name": "root", "role": "inner"},
        *({"name": side, "role": "inner"} for side in SIDES),
        *({"name": f"{side}{leaf}", "role": "leaf"} for side in SIDES for leaf in (1, 2, 3)),
    ],
    "links": [
        *({"a": "root", "b": side, "delay_ms": 0, "weight": 1} for side in SIDES),
        *({"a": side, "b": f"{side}{leaf}", "delay_ms": 0, "weight": 1} for side in SIDES for leaf in (1, 2, 3)),
    ],
}
FAULTS = [
    {
        "id": "f1", "kind": "delay", "target": "link:root-east", "apply_t": START_T + 8 * S,
        "heal_t": START_T + 52 * S, "settled_t": START_T + 52 * S + 90 * MS, "excused": 0,
        "args": {"delay_ms": 40, "jitter_ms": 5},
    },
    {
        "id": "f2", "kind": "cut", "target": "link:root-south", "apply_t": START_T + 18 * S,
        "heal_t": START_T + 23 * S, "settled_t": START_T + 24 * S, "excused": 0, "args": {},
    },
    {
        "id": "f3", "kind": "kill", "target": "broker:north", "apply_t": START_T + 30 * S,
        "heal_t": START_T + 33 * S, "settled_t": START_T + 35 * S, "excused": 61, "args": {},
    },
    {
        "id": "f4", "kind": "kill", "target": "broker:east2", "apply_t": START_T + 42 * S,
        "heal_t": START_T + 45 * S, "settled_t": START_T + 46 * S, "excused": 18, "args": {},
    },
]  # fmt: skip
PHASES = [
    ("warm", 0, 6), ("load", 6, 54), ("heal", 54, 56), ("quiesce", 56, 58), ("quiet", 57.9, 57.9),
    ("final", 58, 63), ("settle", 63, 64), ("quiet", 63.9, 63.9),
]  # fmt: skip


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def base_verdict(verdict: str) -> dict[str, Any]:
    names = ("integrity", "confirmed", "advertised", "missing", "spurious", "subs", "duplicate", "order")
    return {
        "verdict": verdict,
        "reasons": [],
        "checks": [
            {"name": name, "verdict": "pass", "violations": 0, "excused": 0, "summary": "nothing found"}
            for name in names
        ],
        "flight_ns": 2 * S,
        "counts": {
            "publications": 9_600, "subscriptions": 520, "deliveries": 50_903, "pairs_required": 48_214,
            "pairs_permitted": 2_768, "lines": 412_907, "brokers": 13, "drivers": 2, "damaged_lines": 0,
        },
        "span": {"start_t": START_T, "end_t": START_T + 64 * S},
        "faults": FAULTS,
        "phases": [
            {"name": name, "start_t": START_T + int(start * S), "end_t": START_T + int(end * S)}
            for name, start, end in PHASES
        ],
        "damage": [],
    }  # fmt: skip


def amend_check(whole: dict[str, Any], name: str, **changes: Any) -> None:
    next(check for check in whole["checks"] if check["name"] == name).update(changes)


def run_json() -> dict[str, Any]:
    return {
        "seed": 8127, "commit": "4f1c2a9", "scheme": "covering-active", "runtime": "docker",
        "host": {"cpus": 2, "memory_mb": 7936, "kernel": "6.1.0"},
        "versions": {"brokerlab": "0.1.0", "python": "3.11.2", "docker": "28.1"},
        "command": "brokerlab campaign run demo --seed 8127",
        "campaign": "demo", "topology": "tree-13", "promise": "self-healing", "declares": [],
        "drivers": ["driver1", "driver2"], "parameters": {},
    }  # fmt: skip


def write_table(run: Path, name: str, columns: dict[str, list[Any]], schema: pa.Schema | None = None) -> None:
    (run / "audit").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns, schema=schema), run / "audit" / f"{name}.parquet")


def write_congestion(run: Path, brokers: list[str], seconds: int = 64, seed: int = 1) -> None:
    chance = random.Random(seed)
    delay: dict[str, list[Any]] = {name: [] for name in ("t", "count", "p50_ns", "p90_ns", "p99_ns", "max_ns")}
    for bucket in range(seconds * 4):
        second = bucket / 4
        if not (6 <= second < 54 or 58 <= second < 63) or 31 <= second < 31.5:
            continue
        slow = 6.0 if 18 <= second < 24 or 30 <= second < 35 else 3.0 if 42 <= second < 46 else 1.0
        p50 = (2.1 + chance.random()) * MS * (1.2 if slow > 1 else 1)
        row = [p50, p50 * 2.1, p50 * (8 + chance.random() * 3) * slow, p50 * (14 + chance.random() * 12) * slow * 1.5]
        delay["t"].append(START_T + int(second * S))
        delay["count"].append(int(190 + chance.random() * 60 - 12 * slow))
        for name, value in zip(("p50_ns", "p90_ns", "p99_ns", "max_ns"), row, strict=True):
            delay[name].append(int(value))
    write_table(run, "delay", delay)
    totals = {"p50_ns": 2.6, "p90_ns": 5.9, "p99_ns": 88.0, "max_ns": 1420.0}
    columns = {name: [int(value * MS)] for name, value in totals.items()}
    columns |= {f"uncorrected_{name}": [int(value * MS * 0.8)] for name, value in totals.items()}
    write_table(run, "delay_total", {"count": [50_903], **columns})
    queue: dict[str, list[Any]] = {
        name: [] for name in ("node", "t", "depth_max", "table", "unacked", "wait_p99_ns", "work_ns", "handled")
    }
    for position, broker in enumerate(brokers):
        weight = 1.0 / (1 + position % 7)
        for second in range(seconds):
            if broker == "north" and 30 <= second < 33:
                continue
            burst = 9 if 33 <= second < 36 or 23 <= second < 25 else 2 if second > 6 else 0.2
            depth = int(chance.random() * 12 * burst * weight)
            row = [broker, START_T + second * S, depth, 40 + second, depth // 2, depth * 400_000]
            row += [int(weight * 80 * MS), int(220 * weight)]
            for name, value in zip(queue, row, strict=True):
                queue[name].append(value)
    write_table(run, "queue", queue)


def write_links(run: Path, topology: dict[str, Any], seed: int = 2) -> None:
    chance = random.Random(seed)
    columns: dict[str, list[Any]] = {name: [] for name in ("a", "b", "publications", "control", "bytes")}
    for link in topology["links"]:
        for a, b in ((link["a"], link["b"]), (link["b"], link["a"])):
            publications = int(chance.random() ** 2 * (9000 if "root" in (a, b) else 4200))
            row = (a, b, publications, int(chance.random() * 300), publications * 210)
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
    write_table(run, "links", columns)


def violation(
    number: int, check: str = "missing", excused: bool = False, fault: str | None = None, hops: int = 9
) -> dict[str, Any]:
    """The message came from south1, reached a client at south3, and was last seen on its way north at the root."""
    t = START_T + 20 * S + number * 37 * MS
    publisher, msg, client, sub = f"p{number % 40}", f"p{number % 40}:{number}", f"c{number % 90}", f"s{number % 300}"
    steps = [
        ("south1", "handle", publisher), ("south1", "forward", "south"), ("south", "handle", "south1"),
        ("south", "forward", "root"), ("south", "forward", "south3"), ("root", "handle", "south"),
        ("south3", "handle", "south"), ("root", "forward", "north"), ("south3", "forward", "c501"),
    ]  # fmt: skip
    steps += [("south3", "forward", f"c{600 + step}") for step in range(hops - len(steps))]
    path = [
        {
            "t": t + step * 410_000, "node": node, "event": event, "kind": "publication", "n": 4000 + number * 7 + step,
            "from": other if event == "handle" else None, "to": other if event == "forward" else None,
        }
        for step, (node, event, other) in enumerate(steps, 1)
    ]  # fmt: skip
    detail = f"{client} did not get {msg}, published by {publisher} and required by {sub}"
    if check == "duplicate":
        detail = f"{client} got {msg} twice"
    return {
        "check": check, "verdict": "fail", "client": client, "msg": msg, "sub": sub, "t": t, "fault": fault,
        "excused": excused, "detail": detail, "path": path,
    }  # fmt: skip


def write_violations(run: Path, rows: list[dict[str, Any]]) -> None:
    (run / "audit").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=VIOLATIONS), run / "audit" / "violations.parquet")


def _names(topology: dict[str, Any]) -> list[str]:
    return [broker["name"] for broker in topology["brokers"]]


def passing(run: Path) -> Path:
    """A demo that passed, with 79 losses excused by two kills."""
    verdict = base_verdict("pass")
    amend_check(verdict, "missing", excused=79, summary="nothing found; 79 excused by faults")
    write_json(run / "audit" / "verdict.json", verdict)
    write_json(run / "run.json", run_json())
    write_json(run / "topology.json", TREE_13)
    write_congestion(run, _names(TREE_13))
    write_links(run, TREE_13)
    excused = [violation(n, excused=True, fault="f3" if n < 61 else "f4") for n in range(79)]
    write_violations(run, excused)
    return run


def failing(run: Path, missing: int = 37, duplicates: int = 4) -> Path:
    passing(run)
    verdict = base_verdict("fail")
    lost = f"c0 did not get p0:0, published by p0 and required by s0 (and {missing - 1} more); 79 excused by faults"
    twice = f"c10 got p0:1000 twice (and {duplicates - 1} more)"
    verdict["reasons"] = [f"missing: {lost}", f"duplicate: {twice}"]
    amend_check(verdict, "missing", verdict="fail", violations=missing, excused=79, summary=lost)
    amend_check(verdict, "duplicate", verdict="fail", violations=duplicates, summary=twice)
    write_json(run / "audit" / "verdict.json", verdict)
    rows = [violation(n, fault="f2" if n % 3 == 0 else None) for n in range(missing)]
    rows += [violation(1000 + n, check="duplicate") for n in range(duplicates)]
    rows += [violation(2000 + n, excused=True, fault="f3") for n in range(79)]
    write_violations(run, rows)
    return run


def undecided(run: Path) -> Path:
    passing(run)
    verdict = base_verdict("unknown")
    verdict["reasons"] = ["integrity: logs/driver2.1.jsonl line 20418: gap: n goes from 20417 to 20431 (and 2 more)"]
    amend_check(verdict, "integrity", verdict="unknown", violations=3, summary="3 places damaged in 1 file")
    amend_check(verdict, "missing", verdict="unknown", violations=5, summary="c0 did not get p0:0 (and 4 more)")
    verdict["counts"]["damaged_lines"] = 2
    verdict["damage"] = [
        {"file": "logs/driver2.1.jsonl", "line": 20_418, "what": "gap: n goes from 20417 to 20431"},
        {"file": "logs/driver2.1.jsonl", "line": 20_977, "what": "half a line: not JSON"},
        {"file": "logs/driver2.1.jsonl", "line": 0, "what": "no close record"},
    ]
    write_json(run / "audit" / "verdict.json", verdict)
    write_violations(run, [violation(n) | {"verdict": "unknown"} for n in range(5)])
    return run


def minimal(run: Path) -> Path:
    write_json(run / "audit" / "verdict.json", {"verdict": "unknown", "reasons": ["no required pair"]})
    return run


def transit_stub(size: int, seed: int = 3) -> dict[str, Any]:
    """A ring of ten with stars of stubs: cyclic, like the overlays of the papers."""
    core = [f"t{n}" for n in range(10)]
    links = [(core[n], core[(n + 1) % 10]) for n in range(10)] + [("t0", "t5"), ("t2", "t7")]
    chance = random.Random(seed)
    names = list(core)
    while len(names) < size:
        name = f"s{len(names)}"
        links.append((chance.choice(names[: max(10, len(names) // 3)]), name))
        names.append(name)
    return {
        "brokers": [{"name": name, "role": "inner" if name in core else "leaf"} for name in names],
        "links": [{"a": a, "b": b} for a, b in links],
    }


def wide_tree(size: int) -> dict[str, Any]:
    return {
        "brokers": [{"name": f"b{n}", "role": "inner" if 4 * n + 1 < size else "leaf"} for n in range(size)],
        "links": [{"a": f"b{(n - 1) // 4}", "b": f"b{n}"} for n in range(1, size)],
    }


def large(run: Path, topology: dict[str, Any]) -> Path:
    passing(run)
    write_json(run / "topology.json", topology)
    names = _names(topology)
    verdict = base_verdict("pass")
    verdict["counts"]["brokers"] = len(names)
    verdict["faults"] = [
        {"id": f"k{n}", "kind": "kill", "target": f"broker:{names[n * 7 % len(names)]}",
         "apply_t": START_T + (8 + 2 * n) * S, "heal_t": START_T + (9 + 2 * n) * S,
         "settled_t": START_T + (9 + 2 * n) * S + 400 * MS, "excused": n,
         "args": {}}
        for n in range(20)
    ]  # fmt: skip
    write_json(run / "audit" / "verdict.json", verdict)
    write_congestion(run, names)
    write_links(run, topology)
    return run


def hostile(run: Path) -> Path:
    """Everything a stranger can name is an attempt to leave its place on the page."""
    evil = "</script></style></svg>\"'><script>alert(1)</script><img src=x onerror=alert(2)>"
    odd = "b\u202e\x00\x1b[31m\ud800"
    topology = {
        "brokers": [{"name": evil, "role": evil, "group": evil}, {"name": odd, "role": None}, {"name": "b3"}, {}, 7],
        "links": [{"a": evil, "b": odd, "delay_ms": "<b>"}, {"a": odd, "b": "b3"}, {"a": "b3", "b": evil}, {"a": "b3"}],
    }
    verdict = base_verdict(evil)
    verdict |= {
        "reasons": [evil, None, {"a": evil}],
        "damage": [{"file": evil, "line": evil, "what": evil}],
        "checks": [{"name": evil, "verdict": evil, "violations": evil, "excused": None, "summary": evil}, evil],
        "faults": [
            {
                "id": evil,
                "kind": evil,
                "target": f"broker:{evil}",
                "apply_t": START_T + S,
                "heal_t": None,
                "args": {evil: evil},
            },
            {"id": "f2", "kind": "cut", "target": f"link:{evil}-{odd}", "apply_t": START_T, "heal_t": 0},
            {"id": "f3", "kind": "kill", "target": odd, "apply_t": "soon"},
        ],
        "phases": [{"name": evil, "start_t": START_T, "end_t": START_T + 9 * S}, {"name": evil}],
    }
    write_json(run / "audit" / "verdict.json", verdict)
    write_json(run / "run.json", dict.fromkeys(run_json(), evil) | {"host": {evil: [evil]}, "command": [evil, evil]})
    write_json(run / "topology.json", topology)
    write_congestion(run, [evil, "\u202eb", "b3"])
    columns = {"a": [evil, None], "b": ["b3", evil], "publications": [5, None], "control": [1, 2], "bytes": [10, None]}
    write_table(run, "links", columns)
    row = violation(1)
    row |= dict.fromkeys(("check", "verdict", "client", "msg", "sub", "fault", "detail"), evil)
    row["path"] = [{**hop, "node": evil, "event": evil, "from": evil, "to": evil, "kind": evil} for hop in row["path"]]
    write_violations(run, [row, {**row, "excused": True}, {"check": None, "path": None}])
    return run
