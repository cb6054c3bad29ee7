"""Deliberately wrong links, confirmations, clients and filters, each put in the place of the right one by its name."""

from __future__ import annotations

from typing import Any

from node.core.client import ClientState
from node.core.filters import Filter
from node.core.filters.attr.filter import attr_filter
from node.core.messages import Body, Control, Deliver, Port, Snapshot
from node.core.session import Frame, Received, Session
from node.core.settling import Cause, Mail, Settling


class TakesDoubles(Session[bytes]):
    """Takes what it has taken before: resends are delivered again."""

    def _take(self, frame: Frame[bytes]) -> list[bytes]:
        again = [payload for offset, payload in enumerate(frame.payloads) if frame.seq + offset < self._expected]
        return [*again, *super()._take(frame)]


class TakesOutOfOrder(Session[bytes]):
    """Takes what comes early at once, and never what it waited for."""

    def _take(self, frame: Frame[bytes]) -> list[bytes]:
        if frame.payloads and frame.seq > self._expected:
            self._expected = frame.seq
        return super()._take(frame)


class SwapsNeighbours(Session[bytes]):
    """Hands on two payloads of one frame in the wrong order."""

    def _take(self, frame: Frame[bytes]) -> list[bytes]:
        taken = super()._take(frame)
        return [taken[1], taken[0], *taken[2:]] if len(taken) > 1 else taken


class NeverResends(Session[bytes]):
    """Believes that the wire loses nothing."""

    def _patience(self) -> int:
        return 1 << 60


class DropsTheTail(Session[bytes]):
    """After a silence it forgets what had waited for the other side."""

    def receive(self, frame: Frame[bytes], now: int) -> Received[bytes]:
        if self.is_silent:
            self._line.clear()
        return super().receive(frame, now)


class RepeatsToSuccessors(Session[bytes]):
    """Sends a successor what the dead broker may have passed on already."""

    def renew(self) -> None:
        self._peer_leaves = True
        super().renew()


class KeepsCredit(Session[bytes]):
    """Never returns credit: whoever publishes stands still in the end."""

    def release(self, peer_inc: int) -> None:
        pass


class ConfirmsAtOnce(Settling):
    """Confirms before what it caused has settled anywhere."""

    def sent(self, causes: list[Cause], port: Port, mid: int, body: Body) -> None:
        super().sent([], port, mid, body)


class NeverAfter(Settling):
    """Confirms a covered filter on the strength of a wider one that is still under way."""

    def after(self, causes: list[Cause], port: Port, ids: tuple[str, ...]) -> None:
        pass


class ForgetsToConfirm(Settling):
    """Loses every twentieth confirmation."""

    lost = 0

    def settled(self, port: Port, mid: int) -> list[Mail]:
        self.lost += 1
        return [] if self.lost % 20 == 0 else super().settled(port, mid)


class ForgetfulClient(ClientState):
    """Says nothing of what it wants when its broker comes back."""

    def _send_snapshot(self, broker: str) -> None:
        if self._sessions[broker].peer_inc == 1:
            super()._send_snapshot(broker)
        else:
            self._sessions[broker].send(self._codec.encode(Control(10**6, Snapshot((), ()))))


class HastyMover(ClientState):
    """Takes from both brokers while it moves: what comes both ways comes twice."""

    def _delivery(self, broker: str, session: Session[bytes], deliver: Deliver) -> list[Any]:
        self._got_elsewhere = {}
        order, self._at = self._at, [broker]
        found = super()._delivery(broker, session, deliver)
        self._at = order
        return found


def below_only(text: str) -> Filter:
    """Reads `<=` as `<`."""
    return attr_filter(text.replace("<=", "<"))
