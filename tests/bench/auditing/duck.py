"""The audit's central question put to DuckDB in SQL: which required messages did not arrive?

It reads the same files and joins the same exploded constraints; only the texts of the filters are parsed beforehand,
as SQL cannot. Order within a file, `since` and departures are left out: the generated logs have none that matter.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import duckdb
import pyarrow as pa

from controller.audit import filtertext

FLIGHT_NS = 2_000_000_000

_READ = """
create table lines as select event, t, client, msg, sub, "filter", content
from read_json('{logs}/driver*.jsonl', format='newline_delimited', columns={{event: 'VARCHAR', t: 'BIGINT',
    client: 'VARCHAR', msg: 'VARCHAR', sub: 'VARCHAR', filter: 'VARCHAR', content: 'JSON'}});
create table brokers as select event, t, msg
from read_json('{logs}/b*.jsonl', format='newline_delimited',
    columns={{event: 'VARCHAR', t: 'BIGINT', msg: 'VARCHAR'}});
"""
_PREPARE = """
create table subs as select sub, any_value(client) as client, any_value("filter") as asked,
    min(case when event = 'established' then t end) as established,
    min(case when event = 'unsubscribe' then t end) as cancelled
from lines where sub is not null group by sub;
create table attributes as
select msg, t, key as name, json_type(value) in ('UBIGINT', 'BIGINT', 'DOUBLE') is_number,
    json_type(value) = 'BOOLEAN' is_flag, try_cast(value as double) as number, value ->> '$' as said
from (select msg, t, content from lines where event = 'publish'), json_each(content);
"""
_MISSING = """
with met as (
    select a.msg, c.disjunct from attributes a join constraints c on a.name = c.name and a.is_number and c.kind = 'n'
        and case c.op when '=' then a.number = c.number when '<' then a.number < c.number
            when '<=' then a.number <= c.number when '>' then a.number > c.number
            when '>=' then a.number >= c.number else a.number != c.number end
    union all
    select a.msg, c.disjunct from attributes a join constraints c on a.name = c.name and not a.is_number
        and c.kind != 'n' and a.is_flag = (c.kind = 'b')
        and case c.op when '=' then a.said = c.said when '!=' then a.said != c.said
            when 'prefix' then starts_with(a.said, c.said) when 'suffix' then ends_with(a.said, c.said)
            when 'contains' then contains(a.said, c.said) when '<' then a.said < c.said else a.said >= c.said end),
matched as (
    select distinct m.msg, d.asked from (select msg, disjunct, count(*) as held from met group by msg, disjunct) m
    join disjuncts d on m.disjunct = d.disjunct and m.held = d.size),
required as (
    select distinct s.client, m.msg from matched m join subs s on s.asked = m.asked
    join (select msg, t from lines where event = 'publish') p on p.msg = m.msg
    where s.established < p.t and (s.cancelled is null or s.cancelled > p.t + {flight}))
select count(*) from required anti join (select client, msg from lines where event = 'deliver') using (client, msg)
"""


def missing(run: Path) -> tuple[int, dict[str, float]]:
    """How many are missing, and the seconds of each stage."""
    seconds: dict[str, float] = {}
    with duckdb.connect() as connection:
        connection.execute("set threads to 2")
        started_s = time.monotonic()
        connection.execute(_READ.format(logs=run / "logs"))
        connection.execute(_PREPARE)
        seconds["reading"] = time.monotonic() - started_s
        started_s = time.monotonic()
        texts = [text for (text,) in connection.execute("select distinct asked from subs").fetchall()]
        disjuncts, constraints = _parsed(texts)
        connection.register("disjuncts", disjuncts)
        connection.register("constraints", constraints)
        found = connection.execute(_MISSING.format(flight=FLIGHT_NS)).fetchall()[0][0]
        seconds["query"] = time.monotonic() - started_s
    return found, seconds


def _parsed(texts: list[str]) -> tuple[pa.Table, pa.Table]:
    disjuncts: list[dict[str, object]] = []
    constraints: list[dict[str, object]] = []
    for text in texts:
        for conjunction in filtertext.parse(text):
            number = len(disjuncts)
            disjuncts.append({"disjunct": number, "asked": text, "size": len(conjunction)})
            for one in conjunction:
                said = str(bool(one.value.double)).lower() if one.value.kind == "b" else one.value.text
                constraints.append({"disjunct": number, "name": one.name, "op": one.op, "kind": one.value.kind,
                                    "number": one.value.double, "said": said})  # fmt: skip
    return pa.Table.from_pylist(disjuncts), pa.Table.from_pylist(constraints)


if __name__ == "__main__":
    number, stages = missing(Path(sys.argv[1]))
    print(number, *(f"{name}={spent:.2f}" for name, spent in stages.items()))
