"""Ways to break a cluster, one file each. To add another: a file beside these, registered at the foot of this one."""

from __future__ import annotations

from controller.errors import UsageError
from controller.faults.base import Fault, FaultKind
from controller.faults.cut import Cut
from controller.faults.delay import Delay
from controller.faults.kill import Kill
from controller.faults.pause import Pause
from controller.faults.restart import Restart
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
register(Pause())
register(Cut())
register(Delay())
