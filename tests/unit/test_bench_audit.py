"""`make bench-audit` on a small log: what was planted is found by the audit, and by DuckDB as well."""

from __future__ import annotations

from pathlib import Path

from tests.bench.auditing import duck, traffic


def test_the_same_seed_writes_the_same_logs(tmp_path: Path) -> None:
    written = [traffic.write(tmp_path / name, 20_000, seed=3) for name in "ab"]
    assert written[0] == written[1] and written[0].lost == traffic.PLANTED_LOST
    for path in (tmp_path / "a" / "logs").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / "logs" / path.name).read_bytes()


def test_duckdb_misses_what_was_left_out(tmp_path: Path) -> None:
    written = traffic.write(tmp_path / "run", 20_000)
    assert duck.missing(tmp_path / "run")[0] == written.lost + written.lost_in_fault
