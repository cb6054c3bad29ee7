"""Everything that can happen to a log file, as functions of its lines; each says where the damage must be found."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

ELSEWHERE = 10**12
LONG_LINE_BYTES = 10_000_000
NESTED = 100_000


class Damaged(NamedTuple):
    data: bytes
    line: int
    """Where the audit must point, 0 for the file as a whole."""


Mutation = Callable[[list[bytes], Random], Damaged]
MUTATIONS: dict[str, Mutation] = {}


def mutation(function: Mutation) -> Mutation:
    MUTATIONS[function.__name__] = function
    return function


def inner(lines: list[bytes], rng: Random) -> int:
    """The index of a line that is neither the first nor among the last two."""
    return rng.randrange(1, len(lines) - 2)


def replaced(lines: list[bytes], index: int, line: bytes) -> Damaged:
    return Damaged(b"".join([*lines[:index], line, *lines[index + 1 :]]), index + 1)


def changed(lines: list[bytes], index: int, **fields: Any) -> bytes:
    told = {**json.loads(lines[index]), **fields}
    return json.dumps({key: value for key, value in told.items() if value is not ...}).encode() + b"\n"


@mutation
def emptied(lines: list[bytes], rng: Random) -> Damaged:
    return Damaged(b"", 0)


@mutation
def truncated_within_a_line(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return Damaged(b"".join(lines[:index]) + lines[index][: rng.randrange(1, len(lines[index]) - 2)], index + 1)


@mutation
def truncated_after_a_line(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return Damaged(b"".join(lines[:index]), index)


@mutation
def a_hole(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return Damaged(b"".join(lines[:index] + lines[index + 1 :]), index + 1)


@mutation
def a_line_twice(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return Damaged(b"".join([*lines[: index + 1], *lines[index:]]), index + 2)


@mutation
def two_lines_exchanged(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return Damaged(b"".join([*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]]), index + 1)


@mutation
def garbage(lines: list[bytes], rng: Random) -> Damaged:
    return replaced(lines, inner(lines, rng), rng.randbytes(60).replace(b"\n", b"x") + b"\n")


@mutation
def nul_bytes(lines: list[bytes], rng: Random) -> Damaged:
    return replaced(lines, inner(lines, rng), b"\0" * 4096 + b"\n")


@mutation
def invalid_utf8(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return replaced(lines, index, lines[index].replace(b'"node":"', b'"node":"\xff\xfe', 1))


@mutation
def a_line_of_ten_megabytes(lines: list[bytes], rng: Random) -> Damaged:
    return replaced(lines, inner(lines, rng), b"x" * LONG_LINE_BYTES + b"\n")


@mutation
def a_line_nested_without_end(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    deep = b',"more":' + b"[" * NESTED + b"]" * NESTED + b"}\n"
    return replaced(lines, index, lines[index].rstrip()[:-1] + deep)


@mutation
def a_wrong_type(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return replaced(lines, index, changed(lines, index, **{rng.choice(["t", "n", "inc"]): "seven"}))


@mutation
def a_missing_field(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return replaced(lines, index, changed(lines, index, **{rng.choice(["t", "n", "inc", "node", "event"]): ...}))


@mutation
def a_huge_number(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return replaced(lines, index, changed(lines, index, **{rng.choice(["t", "n"]): 10**30}))


@mutation
def an_unknown_event(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return replaced(lines, index, changed(lines, index, event="dance"))


@mutation
def n_repeated(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return replaced(lines, index, changed(lines, index, n=index))


@mutation
def t_going_back(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return replaced(lines, index, changed(lines, index, t=json.loads(lines[index])["t"] - ELSEWHERE))


@mutation
def a_line_of_somebody_else(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    return replaced(lines, index, changed(lines, index, **rng.choice([{"node": "nobody"}, {"inc": 7}])))


@mutation
def nothing_after_close(lines: list[bytes], rng: Random) -> Damaged:
    last = changed(lines, len(lines) - 1, n=len(lines) + 1)
    return Damaged(b"".join([*lines, last]), len(lines) + 1)


@mutation
def no_open(lines: list[bytes], rng: Random) -> Damaged:
    return Damaged(b"".join(lines[1:]), 1)


@mutation
def a_record_of_another_role(lines: list[bytes], rng: Random) -> Damaged:
    index = inner(lines, rng)
    told = json.loads(lines[index])
    head = {key: told[key] for key in ("t", "node", "inc", "n")}
    is_controller = told["node"] == "controller"
    other = (
        {"event": "attach", "client": "c", "broker": "b"} if is_controller
        else {"event": "phase", "name": "load", "state": "start"}
    )  # fmt: skip
    return replaced(lines, index, json.dumps({**head, **other}).encode() + b"\n")
