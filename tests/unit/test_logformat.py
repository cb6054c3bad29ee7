from __future__ import annotations

from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import fields

from controller import logformat
from node.core.messages import Control, Deliver, Publication, Publish, Refused, Settled, Unsubscribe, kind_of
from node.core.records import RECORDS, Record
from node.core.schemes import registry

PAGE = Path(__file__).resolve().parents[2] / "docs/log-format.md"


def sections() -> dict[str, str]:
    return {part.split("\n", 1)[0].strip("` "): part for part in PAGE.read_text().split("\n## ")[1:]}


def test_the_page_is_what_the_types_say_now() -> None:
    assert PAGE.read_text() == logformat.document(), "run `make docs`"


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_field_of_every_record_is_told_with_a_meaning(record: type[Record]) -> None:
    told = sections()[str(record.__struct_config__.tag)] + sections()["In every line"]
    rows = {line.split("|")[1].strip(" `"): line.split("|") for line in told.splitlines() if line.startswith("| `")}
    assert {f.encode_name for f in fields(record)} <= set(rows)
    assert [row for row in rows.values() if not all(cell.strip() for cell in row[1:4])] == []


def test_the_example_is_a_log() -> None:
    lines = PAGE.read_text().split("```")[1].removeprefix("json\n").splitlines()
    decoder: Any = msgspec.json.Decoder(reduce(or_, RECORDS))
    told = [decoder.decode(line) for line in lines]
    assert [record.n for record in told] == list(range(1, len(told) + 1))
    assert [record.t for record in told] == sorted(record.t for record in told)


def test_every_kind_that_travels_is_explained() -> None:
    publication = Publication("c:1", "c", 1, "attr", {})
    payloads = (Publish(publication), Deliver(publication, ("s",)), Settled(1), Refused(1, "s", "no"))
    kinds = {kind_of(payload) for payload in (*payloads, Control(1, Unsubscribe("s")))}
    for name in registry.names():
        kinds |= {str(body.__struct_config__.tag) for body in registry.find(name).controls}
    assert kinds == logformat.SENT
    assert kinds <= set(logformat.KINDS)


def test_the_contracts_kinds_and_ours_are_told() -> None:
    contract = "publication silence subscribe unsubscribe advertise unadvertise update snapshot digest ack nack settled"
    assert set(logformat.KINDS) == {*contract.split(), "refused", "rows"}
