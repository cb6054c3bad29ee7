"""The parts of the page put together and rendered; nothing here decides anything about the run."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from controller import text
from controller.audit.report import congestion, drawing, replay, routes, words
from controller.audit.report.model import RunData, ViolationGroup
from controller.audit.report.scales import TimeAxis
from controller.audit.report.tables import HOPS_FIRST
from controller.audit.report.timeline import lanes_left_out, timeline
from controller.audit.report.windows import argument_words

TEMPLATES = Path(__file__).parent / "templates"
LINK_ROWS_MAX = 60

MARKS = {
    "broker-death": "broker killed",
    "broker-stop": "broker paused",
    "broker-slow": "broker slowed",
    "broker-other": "broker faulted",
    "broker-cut": "broker cut off",
    "link-cut": "link cut",
    "link-slow": "link delayed or lossy",
    "link-stop": "link stopped",
    "link-death": "link broken",
    "link-other": "link faulted",
}


def render(data: RunData) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=text.count, duration=text.duration, offset=text.offset, plural=text.plural, volume=text.volume
    )
    return environment.get_template("report.html").render(_context(data))


def _context(data: RunData) -> dict[str, Any]:
    axis = TimeAxis(data.start_t, data.end_t)
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    delay = congestion.delay_chart(data, axis)
    queue = congestion.queue_chart(data, axis)
    overlay = drawing.draw(data)
    charts = [chart for chart in (delay, queue) if chart]
    return {
        "data": data,
        "label": words.LABELS,
        "headline": words.headline(data),
        "meanings": words.meanings(data),
        "check_words": words.check_words,
        "flight": words.flight_words(data.flight_ns),
        "tiles": _tiles(data),
        "facts": _facts(data),
        "promise": words.promise_words(data.run.get("promise")),
        "command": _command(data),
        "timeline": timeline(data, axis) if data.phases or data.faults else None,
        "lanes_left_out": lanes_left_out(data, axis),
        "arguments": argument_words,
        "overlay": overlay,
        "marks": _legend_marks(overlay),
        "busiest": drawing.busiest_links(data, LINK_ROWS_MAX),
        "delay": delay,
        "delay_tiles": congestion.delay_tiles(data.delay_total),
        "queue": queue,
        "multiples": congestion.queue_multiples(data, axis),
        "queue_rows": congestion.queue_rows(data),
        "broken": _told(data.broken, data, {check.name: check.violations for check in data.checks}),
        "doubtful": _told(data.doubtful, data, {}),
        "excused": _told(data.excused, data, {check.name: check.excused for check in data.checks}),
        "broken_total": words.broken_total(data),
        "excused_total": words.excused_total(data),
        "samples": [routes.story(one, data, HOPS_FIRST) for one in data.samples],
        "replay": _script_json(replay.replay(data)),
        "readouts": _script_json({chart.id: chart.data for chart in charts}),
        "style": (TEMPLATES / "report.css").read_text(encoding="utf-8"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def _script_json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("&", "\\u0026").replace("<", "\\u003c")


def _tiles(data: RunData) -> list[tuple[str, str]]:
    wanted = (
        ("publications", "publications"),
        ("deliveries", "deliveries"),
        ("pairs_required", "required pairs"),
        ("subscriptions", "subscriptions"),
        ("brokers", "brokers"),
    )
    tiles = [(text.count(data.counts[key]), word) for key, word in wanted if key in data.counts]
    tiles.append((text.count(data.faults_total), "fault" if data.faults_total == 1 else "faults"))
    if data.span_known:
        tiles.append((text.duration(data.span_ns), "run time"))
    return tiles


def _facts(data: RunData) -> list[tuple[str, str]]:
    run = data.run
    wanted = (
        ("Scheme", run.get("scheme")),
        ("Promise", run.get("promise")),
        ("Declares", run.get("declares")),
        ("Topology", _topology_words(data)),
        ("Runtime", run.get("runtime")),
        ("Campaign", run.get("campaign")),
        ("Seed", run.get("seed")),
        ("Commit", run.get("commit")),
        ("Started", _started(data)),
        ("Host", run.get("host")),
        ("Versions", run.get("versions")),
        ("Parameters", run.get("parameters")),
    )
    return [(name, written) for name, value in wanted if (written := _written(value))]


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        if "name" in value and isinstance(value["name"], str):
            return text.clean(value["name"])
        return text.clean(", ".join(f"{name} {_written(inner)}" for name, inner in list(value.items())[:16]))
    if isinstance(value, list):
        return text.clean(", ".join(_written(inner) for inner in value[:16]))
    return text.clean(value)


def _topology_words(data: RunData) -> str:
    shape = f"{text.plural(len(data.brokers), 'broker')}, {text.plural(len(data.links), 'link')}"
    name = data.run.get("topology")
    if isinstance(name, str) and name:
        return f"{name} ({shape})"
    return shape if data.brokers else ""


def _started(data: RunData) -> str:
    """Virtual time starts near zero, and is no date."""
    seconds = data.start_t / text.NS_PER_S
    if not 1e9 < seconds < 1e11:
        return ""
    return datetime.datetime.fromtimestamp(seconds, tz=datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _command(data: RunData) -> str:
    command = data.run.get("command")
    if isinstance(command, list):
        return text.clean(shlex.join(str(word) for word in command), 2000)
    return text.clean(command, 2000) if command else ""


def _legend_marks(overlay: drawing.Drawing | None) -> list[tuple[str, str, list[Markup]]]:
    if overlay is None:
        return []
    return [(name, MARKS[name], drawing.mark_shape(name)) for name in overlay.marks if name in MARKS]


def _told(groups: tuple[ViolationGroup, ...], data: RunData, counted: dict[str, int]) -> list[dict[str, Any]]:
    """In the order of the checks; the audit may have counted more than it listed."""
    order = {check.name: position for position, check in enumerate(data.checks)}
    return [
        {
            "check": group.check,
            "total": max(group.total, counted.get(group.check, 0)),
            "stories": [routes.story(violation, data, HOPS_FIRST) for violation in group.shown],
        }
        for group in sorted(groups, key=lambda group: (order.get(group.check, len(order)), group.check))
    ]
