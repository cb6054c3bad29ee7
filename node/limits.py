"""The limits that this process lives under, as the kernel tells them."""

from __future__ import annotations

import resource
from pathlib import Path

_CPU_MAX = Path("/sys/fs/cgroup/cpu.max")
_CPU_QUOTA, _CPU_PERIOD = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
_CGROUP_FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
# Version 1 of cgroups says 'no limit' by a number that no machine has.
_NO_LIMIT = 1 << 60


def memory_limit_bytes() -> int | None:
    """The lower one of the container's and the process's own; None without any."""
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [] if soft == resource.RLIM_INFINITY else [soft]
    for path in _CGROUP_FILES:
        try:
            told = path.read_text().strip()
        except OSError:
            continue
        if told.isdigit() and int(told) < _NO_LIMIT:
            limits.append(int(told))
    return min(limits, default=None)


def cpu_share() -> float:
    """How much of one processor the container may use; 1 if that is all of it or more."""
    for read in (_share_of_version_2, _share_of_version_1):
        try:
            quota, period = read()
        except (OSError, ValueError):
            continue
        return min(1.0, quota / period) if quota > 0 else 1.0
    return 1.0


def _share_of_version_2() -> tuple[int, int]:
    quota, period = _CPU_MAX.read_text().split()
    return (-1 if quota == "max" else int(quota)), int(period)


def _share_of_version_1() -> tuple[int, int]:
    return int(_CPU_QUOTA.read_text()), int(_CPU_PERIOD.read_text())
