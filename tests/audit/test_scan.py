"""What a log file says, and how damage to it is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.audit.scan import DAMAGE_LISTED_MAX, FileFacts, scan
from node.core.records import RECORDS
from tests.audit.logs import Log


def driver() -> Log:
    return Log("d1", 1, "driver", 0).subscribed("c2", "s1", "x > 1").publish("c1", {"x": 2, "y": "é"}).deliver(
        "c2", "c1:1", ["s1"]
    )  # fmt: skip


def read(path: Path, data: bytes) -> tuple[list[dict[str, Any]], FileFacts]:
    file = path / "d1.1.jsonl"
    file.write_bytes(data)
    rows = [{"event": event, **row} for event, batch in scan(file, "d1", 1) for row in batch.to_pylist()]
    facts = [msgspec.json.decode(row["facts"], type=FileFacts) for row in rows if row["event"] == "file"]
    assert len(facts) == 1
    return [row for row in rows if row["event"] != "file"], facts[0]


def damage(path: Path, data: bytes) -> list[tuple[int, str]]:
    return [(d.line, d.kind) for d in read(path, data)[1].damage]


def lines(log: Log) -> list[bytes]:
    return log.text().splitlines(keepends=True)


def test_a_sound_file(tmp_path: Path) -> None:
    rows, facts = read(tmp_path, driver().text())
    assert facts.damage == [] and facts.closed and facts.role == "driver" and facts.lines == 6
    assert facts.counts == {"open": 1, "subscribe": 1, "established": 1, "publish": 1, "deliver": 1, "close": 1}
    assert (facts.first_t, facts.last_t) == (0, 5_000_000)
    published = next(row for row in rows if row["event"] == "publish")
    assert published["content"] == '{"x": 2, "y": "\\u00e9"}' and published["line"] == 4
    assert [a["name"] for a in published["attributes"]] == ["x", "y"] and published["attributes"][1]["text"] == "é"


def test_every_record_has_its_columns(tmp_path: Path) -> None:
    samples: dict[Any, Any] = {int: 7, str: "x", int | None: 7, str | None: "x", list[str]: ["s"],
                               dict[str, int] | None: {"c": 3}, dict[str, Any]: {"a": [1]}}  # fmt: skip
    log = Log("d1", 1, "driver", 0)
    for record in RECORDS[2:]:
        said = {}
        for field in msgspec.structs.fields(record):
            kind = getattr(field.type, "__origin__", field.type) if hasattr(field.type, "__metadata__") else field.type
            literal = getattr(kind, "__args__", None) if "Literal" in str(kind) else None
            said[field.encode_name] = literal[0] if literal else samples.get(kind, {"x": 1})
        log.add(record.__struct_config__.tag, **{k: v for k, v in said.items() if k not in ("t", "node", "inc", "n")})
    rows, facts = read(tmp_path, log.text())
    assert facts.damage == []
    said = [row for row in rows if row["event"] != "filter"]
    for row, line in zip(sorted(said, key=lambda row: row["n"]), log.text().splitlines(), strict=True):
        for name, value in json.loads(line).items():
            if name not in ("content", "args", "since"):
                assert row[name] == value, (row["event"], name)


def test_optional_fields_may_be_absent_and_more_keys_are_allowed(tmp_path: Path) -> None:
    log = Log("d1", 1, "driver", 0).forward("b2", kind="silence").publish("c1", {}, colour="red")
    assert damage(tmp_path, log.text()) == []


def test_a_dropped_line_is_a_gap(tmp_path: Path) -> None:
    all_lines = lines(driver())
    assert damage(tmp_path, b"".join(all_lines[:3] + all_lines[4:])) == [(4, "gap")]


def test_numbering_starts_at_one(tmp_path: Path) -> None:
    assert damage(tmp_path, b"".join(lines(driver())[1:])) == [(1, "gap"), (1, "open")]


def test_a_doubled_line_breaks_the_numbering(tmp_path: Path) -> None:
    all_lines = lines(driver())
    assert (5, "gap") in damage(tmp_path, b"".join(all_lines[:4] + all_lines[3:]))


@pytest.mark.parametrize(
    "garbage",
    [b"garbage", b"", b"\x00\xff\xfe", b"[]", b"null", b'{"event": "publish"}', b'{"t": 1}',
     b'{"t": "1", "node": "d1", "inc": 1, "n": 4, "event": "close"}',
     b'{"t": 1.5, "node": "d1", "inc": 1, "n": 4, "event": "close"}',
     b'{"t": 1, "node": 5, "inc": 1, "n": 4, "event": "close"}',
     b'{"t": 99999999999999999999, "node": "d1", "inc": 1, "n": 4, "event": "close"}',
     b'{"t": 3, "node": "d1", "inc": 1, "n": 4, "event": "dance"}',
     (b'{"t": 3, "node": "d1", "inc": 1, "n": 4, "event": "fault", "id": "f", "kind": "kill", "target": "broker:b1",'
     b' "phase": "later", "args": {}}'),
     (b'{"t": 3, "node": "d1", "inc": 1, "n": 4, "event": "publish", "client": "c", "broker": "b", "msg": "c:1",'
     b' "seq": 1, "content": {"x": [1]}, "lang": "attr", "intended_t": 3}'),
     (b'{"t": 3, "node": "d1", "inc": 1, "n": 4, "event": "publish", "client": "c", "broker": "b", "msg": "c:1",'
     b' "seq": 1, "content": "<a/>", "lang": "attr", "intended_t": 3}')],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_found_where_it_stands(tmp_path: Path, garbage: bytes) -> None:
    assert damage(tmp_path, driver().garble(3, garbage).text()) == [(4, "undecodable")]


def test_a_missing_close(tmp_path: Path) -> None:
    assert damage(tmp_path, driver().unclosed().text()) == [(5, "unclosed")]


def test_half_a_last_line(tmp_path: Path) -> None:
    assert damage(tmp_path, driver().text()[:-20]) == [(6, "cut"), (6, "unclosed")]


def test_a_last_line_that_lacks_only_its_end_is_whole(tmp_path: Path) -> None:
    assert damage(tmp_path, driver().text()[:-1]) == []


def test_an_empty_file(tmp_path: Path) -> None:
    assert damage(tmp_path, b"") == [(0, "empty")]


def test_time_does_not_go_back(tmp_path: Path) -> None:
    assert damage(tmp_path, Log("d1", 1, "driver", 10).at(5).attach("c1").text()) == [(2, "clock")]
    assert damage(tmp_path, Log("d1", 1, "driver", 10).at(10).attach("c1").text()) == []


def test_open_is_first_and_close_is_last(tmp_path: Path) -> None:
    late = Log("d1", 1, "driver", 0).add("open", role="driver", version="0", scheme="simple")
    assert damage(tmp_path, late.text()) == [(2, "open")]
    assert damage(tmp_path, Log("d1", 1, "driver", 0).add("close").attach("c1").text()) == [(3, "close"), (4, "close")]


def test_a_line_of_somebody_else(tmp_path: Path) -> None:
    assert damage(tmp_path, Log("d2", 1, "driver", 0).text()) == [(1, "name"), (2, "name")]


def test_a_file_full_of_garbage_is_listed_only_in_part(tmp_path: Path) -> None:
    _, facts = read(tmp_path, b"garbage\n" * 5000)
    assert facts.damaged_lines == 5000 and len(facts.damage) == DAMAGE_LISTED_MAX + 1
    assert facts.damage[-1].kind == "unclosed"


def test_both_languages_in_one_file(tmp_path: Path) -> None:
    log = driver().subscribe("c3", "s2", "/a/b", lang="xpath").publish("c1", "<a>é</a>", lang="xpath")
    rows, facts = read(tmp_path, log.text())
    assert facts.damage == []
    assert [row["content"] for row in rows if row["event"] == "publish" and row["lang"] == "xpath"] == ["<a>é</a>"]
    told = {row["filter"]: row["disjuncts"] for row in rows if row["event"] == "filter"}
    assert [disjuncts is None for disjuncts in told.values()] == [False, True] and list(told) == ["x > 1", "/a/b"]


def test_garbage_is_shown_without_steering_the_terminal(tmp_path: Path) -> None:
    _, facts = read(tmp_path, b"\x1b[2Jgarbage\x07\n" + driver().text())
    told = facts.damage[0].what
    assert "[2Jgarbage" in told
    assert told.isprintable()
