from __future__ import annotations

from random import Random

import pytest

from controller import topology
from controller.errors import UsageError
from controller.faults.targets import resolve

TREE = topology.load("tree-13")
LINE = topology.load("line-3")


@pytest.mark.parametrize(
    ("selector", "targets"),
    [
        ("broker:b2", ["broker:b2"]),
        ("broker:inner", ["broker:b2"]),
        ("broker:leaf", ["broker:b1", "broker:b3"]),
        ("broker:*", ["broker:b1", "broker:b2", "broker:b3"]),
        ("link:b1-b2", ["link:b1-b2"]),
        ("link:b3-b2", ["link:b2-b3"]),
        ("link:*", ["link:b1-b2", "link:b2-b3"]),
        ("broker:random:3", ["broker:b1", "broker:b2", "broker:b3"]),
    ],
)
def test_selectors(selector: str, targets: list[str]) -> None:
    assert list(resolve(selector, LINE, Random(1))) == targets


def test_chance_comes_from_the_seed() -> None:
    drawn = [resolve("broker:random:4", TREE, Random(seed)) for seed in range(20)]
    assert drawn == [resolve("broker:random:4", TREE, Random(seed)) for seed in range(20)]
    assert len(set(drawn)) > 10
    assert all(len(set(targets)) == 4 for targets in drawn)
    assert len(resolve("link:random:12", TREE, Random(1))) == 12


@pytest.mark.parametrize(("share", "count"), [("1%", 1), ("10%", 1), ("25%", 3), ("50%", 6), ("100%", 12)])
def test_a_share_of_them_is_one_at_least(share: str, count: int) -> None:
    assert len(resolve(f"link:random:{share}", TREE, Random(1))) == count


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ("brokers:b1", "`brokers:b1` is not a target; write one of broker:NAME"),
        ("b1", "`b1` is not a target"),
        ("broker:b4", "no broker `b4` in line-3; .*known: b1, b2, b3; or a role: leaf, inner"),
        ("broker:", "no broker `` in line-3"),
        ("link:b1-b3", "no link `b1-b3` in line-3; .*known: b1-b2, b2-b3"),
        ("link:random:3", "choose from 1 to 2 of the links"),
        ("broker:random:0", "choose from 1 to 3 of the brokers"),
        ("broker:random:²", "choose from 1 to 3 of the brokers"),
        (
            "broker:random:0%",
            "choose from 1 to 3 of the brokers, such as `broker:random:1`, or a share, `broker:random:10%`",
        ),
        ("broker:random:101%", "choose from 1 to 3 of the brokers"),
        ("broker:random:1%2", "choose from 1 to 3 of the brokers"),
        ("broker:random:", "choose from 1 to 3 of the brokers"),
    ],
)
def test_wrong_selectors(selector: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        resolve(selector, LINE, Random(1))
