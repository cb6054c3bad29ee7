"""Ways to break a cluster, one file each. To add another: a file beside these, registered at the foot of this one."""

from __future__ import annotations

from controller.errors import UsageError
from controller.faults.base import Fault, FaultKind
from controller.faults.client_crash import ClientCrash
from controller.faults.clock_skew import ClockSkew
from controller.faults.cut import Cut
from controller.faults.delay import Delay
from controller.faults.disk_full import DiskFull
from controller.faults.duplicate import Duplicate
from controller.faults.flap import Flap
from controller.faults.isolate import Isolate
from controller.faults.jitter import Jitter
from controller.faults.kill import Kill
from controller.faults.loss import Loss
from controller.faults.memory_limit import Memory
from controller.faults.partition import Partition
from controller.faults.pause import Pause
from controller.faults.rate import Rate
from controller.faults.reorder import Reorder
from controller.faults.restart import Restart
from controller.faults.stop import Stop
from controller.faults.throttle import Throttle
from controller.yamlfile import known

__all__ = ["Fault", "FaultKind", "find", "names"]

_KINDS: dict[str, FaultKind] = {}


def register(fault: FaultKind) -> None:
    _KINDS[fault.kind] = fault


def names() -> list[str]:
    return list(_KINDS)


def find(kind: str) -> FaultKind:
    if kind not in _KINDS:
        raise UsageError(f"no fault `{kind}`; {known(kind, _KINDS)}")
    return _KINDS[kind]


register(Kill())
register(Restart())
register(Stop())
register(Pause())
register(Cut())
register(Partition())
register(Flap())
register(Delay())
register(Jitter())
register(Loss())
register(Duplicate())
register(Reorder())
register(Rate())
register(Throttle())
register(Memory())
register(ClockSkew())
register(DiskFull())
register(Isolate())
register(ClientCrash())
