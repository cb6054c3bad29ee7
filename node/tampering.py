"""What the controller may do to a broker from within: shape its links, put it under strain, measure what that does."""

from __future__ import annotations

import resource
import time
from typing import Any

import msgspec
import structlog

from node.admin import AdminError, Handler
from node.clock import Clock
from node.drift import Drift
from node.journal import LogFile
from node.limits import cpu_share, memory_limit_bytes
from node.probing import PROBES_MAX, Probe, Probes
from node.shaping import MS, Shape, Shaping
from node.strain import Strain
from node.wire import FRAME_BYTES_MAX

EFFORT_MS_MAX = 500
_SLICE_NS = 2_000_000
PROBE = b"probe"

log = structlog.get_logger()


class Tampering:
    def __init__(self, node: str, shaping: Shaping, drift: Drift, disk: LogFile, clock: Clock) -> None:
        self._node = node
        self._shaping = shaping
        self._drift = drift
        self._disk = disk
        self._clock = clock
        self.strain = Strain()
        self.probes = Probes()
        self._worked_ns = time.thread_time_ns()
        self._memory_before = resource.getrlimit(resource.RLIMIT_DATA)[0]
        self.handlers: dict[str, Handler] = {
            "shape": self._shape,
            "strain": self._strain,
            "probe": self._probe,
            "probed": self._probed,
            "effort": self._effort,
        }

    def rest(self) -> None:
        """After a piece of work: sleep as long as the share of the processor asks for."""
        if self.strain.cpu_share >= 1:
            return
        worked_ns = time.thread_time_ns()
        time.sleep((worked_ns - self._worked_ns) * (1 / self.strain.cpu_share - 1) / 1e9)
        self._worked_ns = time.thread_time_ns()

    def facts(self) -> dict[str, Any]:
        share = min(float(self.strain.cpu_share), cpu_share())
        return {"strain": _unusual(self.strain), "cpu_share": share, "memory_limit": memory_limit_bytes()}

    def _shape(self, request: dict[str, Any]) -> dict[str, Any]:
        peer = self._peer(request)
        shape = msgspec.convert(request.get("shape"), Shape)
        self._shaping.change(peer, shape)
        log.info("shape", peer=peer, **_unusual(shape))
        return {"peer": peer, "shape": msgspec.to_builtins(shape)}

    def _strain(self, request: dict[str, Any]) -> dict[str, Any]:
        strain = msgspec.convert(request.get("strain"), Strain)
        if (strain.clock_rate, strain.clock_ahead_ms) != (self.strain.clock_rate, self.strain.clock_ahead_ms):
            self._drift.change(strain.clock_rate, round(strain.clock_ahead_ms * MS), self._clock.monotonic_ns())
        self._disk.fill_disk(strain.disk_full)
        if strain.memory_mb != self.strain.memory_mb:
            self._limit_memory(strain.memory_mb)
        self._worked_ns = time.thread_time_ns()
        self.strain = strain
        log.info("strain", **_unusual(strain))
        return self.facts()

    def _limit_memory(self, memory_mb: int | None) -> None:
        """Of this process alone; a container has a limit of its own."""
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = self._memory_before if memory_mb is None else memory_mb << 20
        try:
            resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
        except (OSError, ValueError) as error:
            raise AdminError(f"a memory limit of {memory_mb} MB cannot be set: {error}") from None

    def _probe(self, request: dict[str, Any]) -> dict[str, Any]:
        peer, token = self._peer(request), str(request.get("token"))
        count, size = request.get("count"), request.get("size", 0)
        if type(count) is not int or not 1 <= count <= PROBES_MAX:
            raise AdminError(f"count is from 1 to {PROBES_MAX}")
        if type(size) is not int or not 0 <= size <= FRAME_BYTES_MAX // 4:
            raise AdminError("size is a number of bytes, not as many as a frame may have")
        now = self._clock.monotonic_ns()
        if not self.strain.isolated:
            for number in range(count):
                data = msgspec.msgpack.encode(Probe(token, number, now, bytes(size)))
                self._shaping.offer(peer, [self._node.encode(), data, PROBE], now)
        return {"sent": count}

    def _probed(self, request: dict[str, Any]) -> dict[str, Any]:
        return msgspec.to_builtins(self.probes.arrivals(str(request.get("token"))))  # type: ignore[no-any-return]

    def _effort(self, request: dict[str, Any]) -> dict[str, Any]:
        """How long so much work takes here: what is left of a processor shows in that, whatever took the rest."""
        ms = request.get("ms")
        if type(ms) is not int or not 1 <= ms <= EFFORT_MS_MAX:
            raise AdminError(f"ms is from 1 to {EFFORT_MS_MAX}")
        began_at, worked_ns = self._clock.monotonic_ns(), 0
        while worked_ns < ms * MS:
            slice_at = time.thread_time_ns()
            while time.thread_time_ns() - slice_at < _SLICE_NS:
                pass
            worked_ns += time.thread_time_ns() - slice_at
            self.rest()
        return {"worked_ns": worked_ns, "took_ns": self._clock.monotonic_ns() - began_at}

    def _peer(self, request: dict[str, Any]) -> str:
        peer = request.get("peer")
        if not isinstance(peer, str) or not self._shaping.knows(peer):
            raise AdminError(f"{peer!r} is no neighbour of {self._node}; those are {', '.join(self._shaping.peers)}")
        return peer


def _unusual(struct: msgspec.Struct) -> dict[str, Any]:
    """What differs from the defaults."""
    usual = type(struct)()
    pairs = {name: getattr(struct, name) for name in struct.__struct_fields__}
    return {name: value for name, value in pairs.items() if value != getattr(usual, name)}
