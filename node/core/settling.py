"""When is a control message done everywhere? When all that it caused, at whatever broker, is done.

A diffusing computation after Dijkstra and Scholten: a broker confirms a control message to its sender once all the
messages that it sent because of it are confirmed. `established`, `advertised` and 'the network is quiet' rest on this.
"""

from __future__ import annotations

from node.core.messages import Port

Mail = tuple[Port, int]


class Cause:
    __slots__ = ("parents", "pending", "tell")

    def __init__(self, tell: Mail | None) -> None:
        self.tell = tell
        self.pending = 0
        self.parents: list[Cause] = []


class Settling:
    def __init__(self) -> None:
        self._awaited: dict[Port, dict[int, Cause]] = {}
        self._owed: dict[Port, dict[int, Cause]] = {}

    @property
    def unsettled(self) -> int:
        return sum(len(mids) for mids in self._awaited.values())

    def begin(self, origin: Mail | None) -> Cause:
        """A control message arrived (or a link came up): what is sent until `end` is because of it."""
        cause = Cause(origin)
        cause.pending = 1
        if origin is not None:
            self._owed.setdefault(origin[0], {})[origin[1]] = cause
        return cause

    def sent(self, cause: Cause, port: Port, mid: int) -> None:
        cause.pending += 1
        self._awaited.setdefault(port, {})[mid] = cause

    def end(self, cause: Cause) -> list[Mail]:
        """All that it causes has been sent; returns what may be confirmed to whom now."""
        return self._done(cause)

    def settled(self, port: Port, mid: int) -> list[Mail]:
        cause = self._awaited.get(port, {}).pop(mid, None)
        return [] if cause is None else self._done(cause)

    def replace(self, port: Port, cause: Cause) -> None:
        """The peer died: nothing is owed to it any more, and what waited for it waits for `cause` instead."""
        for orphan in self._owed.pop(port, {}).values():
            orphan.tell = None
        cause.parents.extend(self._awaited.pop(port, {}).values())

    def _done(self, cause: Cause) -> list[Mail]:
        mails: list[Mail] = []
        stack = [cause]
        while stack:
            current = stack.pop()
            current.pending -= 1
            if current.pending:
                continue
            if current.tell is not None:
                port, mid = current.tell
                self._owed.get(port, {}).pop(mid, None)
                mails.append(current.tell)
            stack.extend(reversed(current.parents))
        return mails
