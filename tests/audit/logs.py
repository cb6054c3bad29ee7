"""A tiny builder of run directories: literal rows, in the order they are written.

    run = RunLog(tmp_path)
    run.driver("d1").subscribed("c2", "s1", "x > 1").at(5).publish("c1", {"x": 2}).deliver("c2", "c1:1", ["s1"])
    run.write()

A file's clock moves on by a millisecond per line; `at` sets it. All times are milliseconds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

MS = 1_000_000
SECOND = 1000


class Log:
    def __init__(self, node: str, inc: int, role: str, start_ms: float) -> None:
        self.node, self.inc, self.role = node, inc, role
        self.lines: list[dict[str, Any]] = []
        self.raw: dict[int, bytes] = {}
        self.now_ms: float = start_ms
        self.closed = True
        self._seq: dict[str, int] = {}
        self._subs: dict[str, tuple[str, str, str, str]] = {}
        self.add("open", role=role, version="0", scheme="simple")

    def at(self, ms: float) -> Self:
        self.now_ms = ms
        if self.inc > 1 and len(self.lines) == 1:
            self.lines[0]["t"] = round(ms * MS)  # a later life begins after the one before it
        return self

    def add(self, event: str, **fields: Any) -> Self:
        line = {"t": round(self.now_ms * MS), "node": self.node, "inc": self.inc, "n": 0, "event": event, **fields}
        self.lines.append(line)
        self.now_ms += 1
        return self

    def unclosed(self) -> Self:
        self.closed = False
        return self

    def attach(self, client: str, broker: str = "b1") -> Self:
        return self.add("attach", client=client, broker=broker)

    def detach(self, client: str, broker: str = "b1") -> Self:
        return self.add("detach", client=client, broker=broker)

    def subscribe(self, client: str, sub: str, text: str, broker: str = "b1", lang: str = "attr") -> Self:
        self._subs[sub] = (client, broker, text, lang)
        return self.add("subscribe", client=client, broker=broker, sub=sub, filter=text, lang=lang)

    def _about(self, event: str, sub: str, **fields: Any) -> Self:
        client, broker, text, lang = self._subs[sub]
        return self.add(event, client=client, broker=broker, sub=sub, filter=text, lang=lang, **fields)

    def established(self, sub: str, **fields: Any) -> Self:
        return self._about("established", sub, **fields)

    def unsubscribe(self, sub: str) -> Self:
        return self._about("unsubscribe", sub)

    def unsubscribed(self, sub: str) -> Self:
        return self._about("unsubscribed", sub)

    def subscribed(self, client: str, sub: str, text: str, broker: str = "b1", lang: str = "attr") -> Self:
        return self.subscribe(client, sub, text, broker, lang).established(sub)

    def advertise(self, event: str, client: str, adv: str, text: str) -> Self:
        return self.add(event, client=client, broker="b1", adv=adv, filter=text, lang="attr")

    def publish(self, client: str, content: Any, *, early_ms: float = 0, **fields: Any) -> Self:
        seq = self._seq[client] = self._seq.get(client, 0) + 1
        said = {"client": client, "broker": "b1", "msg": f"{client}:{seq}", "seq": seq, "content": content,
                "lang": "attr", "intended_t": round((self.now_ms - early_ms) * MS)}  # fmt: skip
        return self.add("publish", **{**said, **fields})

    def deliver(self, client: str, msg: str, subs: list[str], **fields: Any) -> Self:
        publisher, seq = msg.split(":")
        said = {"client": client, "broker": "b1", "msg": msg, "publisher": publisher, "seq": int(seq), "subs": subs}
        return self.add("deliver", **{**said, **fields})

    def handle(self, came_from: str, msg: str, wait_ms: float = 1, work_ms: float = 1) -> Self:
        return self.add("handle", **{"from": came_from}, kind="publication", msg=msg, wait_ns=round(wait_ms * MS),
                        work_ns=round(work_ms * MS))  # fmt: skip

    def forward(self, to: str, msg: str | None = None, kind: str = "publication", length: int = 100) -> Self:
        return self.add("forward", to=to, kind=kind, entries=0, bytes=length, **({"msg": msg} if msg else {}))

    def control(self, event: str, peer: str, kind: str, length: int = 50, **fields: Any) -> Self:
        """A `handle` from, or a `forward` to, the peer that is about no publication."""
        if event == "handle":
            return self.add("handle", **{"from": peer}, kind=kind, wait_ns=MS, work_ns=MS, **fields)
        return self.add("forward", to=peer, kind=kind, entries=1, bytes=length, **fields)

    def sample(self, queue: int, table: int = 3, unacked: int = 0, lag_ms: float = 0) -> Self:
        said = {"queue": queue, "table": table, "unacked": unacked, "rss": 1, "cpu_ns": 1}
        return self.add("sample", **said, lag_ns=round(lag_ms * MS))

    def refuse(self, what: str) -> Self:
        return self.add("refuse", what=what, why="does not parse")

    def fault(self, phase: str, fault: str, kind: str = "kill", target: str = "broker:b1") -> Self:
        return self.add("fault", id=fault, kind=kind, target=target, phase=phase, args={})

    def phase(self, name: str, state: str = "start") -> Self:
        return self.add("phase", name=name, state=state)

    def garble(self, index: int, text: bytes) -> Self:
        """Puts a raw line in place of line `index` (0 is `open`); the numbering stays."""
        self.raw[index] = text
        return self

    def text(self, renumber: bool = True) -> bytes:
        lines = list(self.lines)
        if self.closed:
            lines.append({"t": round(self.now_ms * MS), "node": self.node, "inc": self.inc, "n": 0, "event": "close"})
        encoded = []
        for index, line in enumerate(lines):
            numbered = {**line, "n": index + 1} if line["n"] == 0 else line
            encoded.append(self.raw.get(index, json.dumps(numbered).encode()) + b"\n")
        return b"".join(encoded)


class RunLog:
    """One broker `b1`, the controller, and the drivers that were asked for; the promise is `perfect`."""

    def __init__(self, folder: Path, promise: str = "perfect", start_ms: float = 0) -> None:
        self.folder = folder
        self.start_ms = start_ms
        self.logs: dict[tuple[str, int], Log] = {}
        self.run: dict[str, Any] = {"promise": promise, "declares": [], "drivers": []}
        self.topology: dict[str, Any] = {"brokers": [], "links": []}
        self.controller = self._log("controller", 1, "controller")
        self.broker("b1")

    def _log(self, node: str, inc: int, role: str) -> Log:
        return self.logs.setdefault((node, inc), Log(node, inc, role, self.start_ms))

    def broker(self, name: str, inc: int = 1) -> Log:
        if name not in [b["name"] for b in self.topology["brokers"]]:
            self.topology["brokers"].append({"name": name, "role": "inner"})
        return self._log(name, inc, "broker")

    def link(self, a: str, b: str, **fields: Any) -> None:
        self.broker(a), self.broker(b)
        self.topology["links"].append({"a": a, "b": b, **fields})

    def driver(self, name: str = "d1", inc: int = 1) -> Log:
        if name not in self.run["drivers"]:
            self.run["drivers"].append(name)
        return self._log(name, inc, "driver")

    def path(self, node: str, inc: int = 1) -> Path:
        return self.folder / "logs" / f"{node}.{inc}.jsonl"

    def write(self) -> Path:
        (self.folder / "logs").mkdir(parents=True)
        (self.folder / "run.json").write_text(json.dumps(self.run))
        (self.folder / "topology.json").write_text(json.dumps(self.topology))
        for (node, inc), log in self.logs.items():
            self.path(node, inc).write_bytes(log.text())
        return self.folder
