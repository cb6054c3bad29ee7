from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from node.core.schemes.base import Persist
from node.store import Store

ENTRIES = st.lists(st.tuples(st.sampled_from(["a", "b", "zoë", ""]), st.binary(max_size=30)), max_size=12)


@given(ENTRIES, st.integers(0, 400))
def test_after_a_kill_a_prefix_of_what_was_kept_is_there(entries: list[tuple[str, bytes]], cut_at: int) -> None:
    with tempfile.TemporaryDirectory() as logs:
        store = Store(logs, "b1")
        assert store.load() == {}
        for key, value in entries:
            store.append([Persist(key, value)])
        path = Path(logs) / "b1.store"
        if path.exists():
            path.write_bytes(path.read_bytes()[:cut_at])
        kept = Store(logs, "b1").load()
        assert kept in [dict(entries[:count]) for count in range(len(entries) + 1)]
        # What was loaded is what a second restart finds, and more can be added to it.
        again = Store(logs, "b1")
        assert again.load() == kept
        again.append([Persist("new", b"1")])
        assert Store(logs, "b1").load() == {**kept, "new": b"1"}


def test_the_last_value_counts_and_the_file_does_not_grow_for_ever(tmp_path: Path) -> None:
    store = Store(str(tmp_path), "b1")
    store.append(Persist("k", str(i).encode()) for i in range(1_000))
    assert Store(str(tmp_path), "b1").load() == {"k": b"999"}
    assert (tmp_path / "b1.store").stat().st_size < 40


def test_damage_in_the_middle_ends_what_is_taken(tmp_path: Path) -> None:
    Store(str(tmp_path), "b1").append([Persist("a", b"1111"), Persist("b", b"2222"), Persist("c", b"3333")])
    path = tmp_path / "b1.store"
    path.write_bytes(path.read_bytes().replace(b"2222", b"2922"))
    assert Store(str(tmp_path), "b1").load() == {"a": b"1111"}
