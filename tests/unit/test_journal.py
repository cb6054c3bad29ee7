from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from node.core import records
from node.driver import published_before
from node.errors import HostError
from node.journal import Journal, LogFile, log_files, next_incarnation, open_journal


def ticking(*times: int) -> Iterator[int]:
    yield from times


def test_records_are_numbered_and_time_never_goes_back(tmp_path: Path) -> None:
    clock = ticking(50, 70, 60, 80)
    journal = open_journal(str(tmp_path), "b1", 3, lambda: next(clock))
    assert [journal.add(records.Link, peer="b2", state="up", reason="r") for _ in range(3)] == [1, 2, 3]
    journal.add(records.Close)
    journal.close()
    lines = [json.loads(line) for line in (tmp_path / "b1.3.jsonl").read_text().splitlines()]
    assert [line["n"] for line in lines] == [1, 2, 3, 4]
    assert [line["t"] for line in lines] == [50, 70, 70, 80]
    assert lines[0] == {
        "event": "link",
        "t": 50,
        "node": "b1",
        "inc": 3,
        "n": 1,
        "peer": "b2",
        "state": "up",
        "reason": "r",
    }
    assert lines[3]["event"] == "close"


def test_a_batch_is_one_write_and_nothing_is_written_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = open_journal(str(tmp_path), "b1", 1, lambda: 1)
    writes: list[int] = []
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: writes.append(len(data)) or write(fd, data))
    for _ in range(100):
        journal.add(records.Close)
    assert not writes and not (tmp_path / "b1.1.jsonl").read_bytes()
    journal.flush()
    journal.flush()
    assert len(writes) == 1
    assert len((tmp_path / "b1.1.jsonl").read_bytes().splitlines()) == 100


def test_a_write_in_parts_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = open_journal(str(tmp_path), "b1", 1, lambda: 1)
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    journal.add(records.Open, role="broker", version="1", scheme="simple")
    journal.flush()
    assert json.loads((tmp_path / "b1.1.jsonl").read_text())["role"] == "broker"


def test_a_full_disk_takes_nothing_and_once_it_has_room_nothing_is_missing(tmp_path: Path) -> None:
    disk = LogFile(str(tmp_path), "b1", 1)
    journal = Journal("b1", 1, lambda: 1, disk)
    disk.fill_disk(True)
    journal.add(records.Close)
    assert not journal.flush()
    journal.add(records.Close)
    assert not journal.flush()
    assert (tmp_path / "b1.1.jsonl").read_bytes() == b""
    disk.fill_disk(False)
    assert journal.flush()
    assert [json.loads(line)["n"] for line in (tmp_path / "b1.1.jsonl").read_text().splitlines()] == [1, 2]


def test_half_a_line_that_found_room_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = open_journal(str(tmp_path), "b1", 1, lambda: 1)
    write = os.write

    def nearly_full(fd: int, data: bytes) -> int:
        if len(data) < 50:
            raise OSError(28, "No space left on device")
        return write(fd, data[:10])

    journal.add(records.Close)
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", nearly_full)
        assert not journal.flush()
    assert journal.flush()
    assert json.loads((tmp_path / "b1.1.jsonl").read_text())["event"] == "close"


def test_a_log_that_cannot_be_ended_is_told(tmp_path: Path) -> None:
    disk = LogFile(str(tmp_path), "b1", 1)
    journal = Journal("b1", 1, lambda: 1, disk)
    disk.fill_disk(True)
    journal.add(records.Close)
    with pytest.raises(HostError, match="the log of b1 is cut short: no space left"):
        journal.close()


def test_an_incarnation_is_one_more_than_the_highest_log(tmp_path: Path) -> None:
    assert next_incarnation(str(tmp_path), "b1") == 1
    for name in ("b1.1.jsonl", "b1.10.jsonl", "b1.2.jsonl", "b11.40.jsonl", "b1.x.jsonl", "b1.50.jsonl.gz"):
        (tmp_path / name).touch()
    assert next_incarnation(str(tmp_path), "b1") == 11
    assert list(log_files(str(tmp_path), "b1")) == [1, 2, 10]
    with pytest.raises(HostError, match=r"b1\.10\.jsonl cannot be made"):
        open_journal(str(tmp_path), "b1", 10, lambda: 1)


def test_publications_are_counted_over_incarnations_and_half_lines(tmp_path: Path) -> None:
    for inc, seqs in ((1, (1, 2)), (2, (3,))):
        journal = open_journal(str(tmp_path), "driver1", inc, lambda: 1)
        for seq in seqs:
            journal.add(records.Publish, client="c1", broker="b1", msg=f"c1:{seq}", seq=seq,
                        content={"x": 1}, lang="attr", intended_t=1)  # fmt: skip
        journal.close()
    path = tmp_path / "driver1.2.jsonl"
    path.write_bytes(path.read_bytes() + b'{"event":"publish","client":"c1","seq":9')
    assert published_before(str(tmp_path), "driver1") == {"c1": 3}
    assert published_before(str(tmp_path), "driver2") == {}
