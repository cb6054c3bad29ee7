from __future__ import annotations

import pytest

from controller.campaigns.host import HostWatch


@pytest.mark.parametrize(
    ("lag_s_max", "steal", "told"),
    [
        (0.1, 0.0, []),
        (0.1, 0.34, []),
        (0.6, 0.34, ["its host took 34% of its processors away"]),
        (0.6, 0.1, []),
        (2.1, 0.1, ["the controller was kept waiting for 2.1 s"]),
        (2.1, 0.5, ["the controller was kept waiting for 2.1 s", "its host took 50% of its processors away"]),
    ],
)
def test_a_busy_machine_is_doubted_once_it_kept_somebody_waiting(
    lag_s_max: float, steal: float, told: list[str]
) -> None:
    watch = HostWatch()
    watch.lag_s_max, watch.steal = lag_s_max, steal
    assert watch.doubts() == [f"this machine was too busy: {one}" for one in told]
