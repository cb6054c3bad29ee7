from __future__ import annotations

from node.refusals import ONE_BY_ONE, SUMMARY_NS, TEXT_MAX, Refusals


def test_the_first_of_each_kind_are_told_the_rest_is_counted() -> None:
    refusals = Refusals()
    for _ in range(ONE_BY_ONE + 40):
        refusals.note("frames", "frame", "garbage", 0)
    refusals.note("connections", "connection", "no key", 0)
    assert len(refusals.take(0)) == ONE_BY_ONE + 1
    assert refusals.take(SUMMARY_NS - 1) == []
    assert refusals.take(SUMMARY_NS) == [("frames", "40 more, not recorded one by one")]
    assert refusals.take(2 * SUMMARY_NS) == []
    refusals.note("frames", "frame", "garbage", 2 * SUMMARY_NS)
    assert refusals.take(2 * SUMMARY_NS) == []
    assert refusals.take(2 * SUMMARY_NS, final=True) == [("frames", "1 more, not recorded one by one")]


def test_a_strangers_text_is_cut() -> None:
    refusals = Refusals()
    refusals.note("frames", "x" * 10_000, "y" * 10_000, 0)
    assert [(len(what), len(why)) for what, why in refusals.take(0)] == [(TEXT_MAX, TEXT_MAX)]
