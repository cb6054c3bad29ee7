from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from node.admin import AdminError, answer, refuse


def double(request: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(request.get("x"), int):
        raise AdminError("x is a number")
    return {"twice": 2 * request["x"]}


HANDLERS = {"double": double, "also": double}


def test_answers_repeat_the_id() -> None:
    assert json.loads(answer(b'{"id": 4, "op": "double", "x": 21}', HANDLERS)) == {"id": 4, "ok": True, "twice": 42}
    assert json.loads(answer(b'{"id": "a", "op": "double"}', HANDLERS)) == {
        "id": "a",
        "ok": False,
        "error": "x is a number",
    }
    told = json.loads(answer(b'{"id": 4, "op": "halve"}', HANDLERS))
    assert told == {"id": 4, "ok": False, "error": "no operation 'halve'; known are also, double"}
    absent = {"id": 4, "ok": False, "error": "not there", "absent": True}
    assert json.loads(refuse(b'{"id": 4}', "not there")) == absent, "a node that is not there has not refused"


@given(st.one_of(st.binary(max_size=50), st.recursive(st.integers(), st.lists).map(lambda v: json.dumps(v).encode())))
def test_whatever_comes_there_is_an_answer(data: bytes) -> None:
    for told in (json.loads(answer(data, HANDLERS)), json.loads(refuse(data, "no"))):
        assert told["ok"] is False and told["error"]
