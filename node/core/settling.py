"""When is a control message done everywhere? When all that it caused, at whatever broker, is done.

A diffusing computation after Dijkstra and Scholten: a broker confirms a control message to its sender once all the
messages that it sent because of it are confirmed. `established`, `advertised` and 'the network is quiet' rest on this.
"""

from __future__ import annotations

from node.core.messages import Body, Port

Mail = tuple[Port, int]


class Cause:
    """Something that happened at this broker, and how much of what it set off is still under way."""

    __slots__ = ("parents", "pending", "rank_max", "tell")

    def __init__(self, tell: Mail | None, rank_max: int | None) -> None:
        self.tell = tell
        self.rank_max = rank_max
        self.pending = 1
        self.parents: list[Cause] = []


class _UnderWay:
    __slots__ = ("brings", "causes", "rank")

    def __init__(self, body: Body, causes: list[Cause]) -> None:
        self.rank = body.rank
        self.brings = body.brings
        self.causes = causes


class Settling:
    def __init__(self) -> None:
        self._under_way: dict[Port, dict[int, _UnderWay]] = {}
        # The last message under way to a port that brings it this id.
        self._bringing: dict[Port, dict[str, int]] = {}
        self._owed: dict[Port, dict[int, Cause]] = {}
        self._held: dict[Port, list[Cause]] = {}

    @property
    def unsettled(self) -> int:
        return sum(len(mids) for mids in self._under_way.values())

    def begin(self, origin: Mail | None, rank_max: int | None = None) -> Cause:
        """A control message arrived, or something else happened: what is sent until `end` is because of it.

        With `rank_max` the cause does not wait for messages of a higher rank (see `Body.rank`).
        """
        cause = Cause(origin, rank_max)
        if origin is not None:
            self._owed.setdefault(origin[0], {})[origin[1]] = cause
        return cause

    def sent(self, causes: list[Cause], port: Port, mid: int, body: Body) -> None:
        waiting = [cause for cause in causes if cause.rank_max is None or body.rank <= cause.rank_max]
        for cause in waiting:
            cause.pending += 1
        self._under_way.setdefault(port, {})[mid] = under_way = _UnderWay(body, waiting)
        self._bringing.setdefault(port, {}).update(dict.fromkeys(under_way.brings, mid))

    def after(self, causes: list[Cause], port: Port, ids: tuple[str, ...]) -> None:
        """Also wait until the port has one of these, if all of them are still under way to it."""
        bringing = self._bringing.get(port, {})
        mids = [bringing[key] for key in ids if key in bringing]
        if mids and len(mids) == len(ids):
            for cause in causes:
                cause.pending += 1
            self._under_way[port][min(mids)].causes.extend(causes)

    def hold(self, causes: list[Cause], port: Port) -> None:
        """They came from that port, and nobody knows yet all that they have to cause: wait for `release`."""
        for cause in causes:
            cause.pending += 1
        self._held.setdefault(port, []).extend(causes)

    @property
    def holding(self) -> list[Port]:
        return list(self._held)

    def release(self, port: Port) -> list[Mail]:
        """What had to be sent because of them has been sent since, in answer to others: wait for that, and be done.

        Only rank 0 is answered that way, and only what goes onwards can matter to what came from this port.
        """
        together = Cause(None, None)
        together.parents = self._held.pop(port, [])
        for other, mids in self._under_way.items():
            for under_way in mids.values():
                if other != port and under_way.rank == 0:
                    together.pending += 1
                    under_way.causes.append(together)
        return self._done(together)

    def end(self, causes: list[Cause]) -> list[Mail]:
        """All that they cause has been sent; returns what may be confirmed to whom now."""
        return [mail for cause in causes for mail in self._done(cause)]

    def settled(self, port: Port, mid: int) -> list[Mail]:
        under_way = self._under_way.get(port, {}).pop(mid, None)
        if under_way is None:
            return []
        bringing = self._bringing[port]
        for key in under_way.brings:
            if bringing.get(key) == mid:
                del bringing[key]
        return self.end(under_way.causes)

    def replace(self, port: Port, causes: list[Cause]) -> None:
        """The peer died: nothing is owed to it any more, and what waited for it waits for one of these instead.

        `causes` come in order of their `rank_max`, the last without one.
        """
        for orphan in self._owed.pop(port, {}).values():
            orphan.tell = None
        self._bringing.pop(port, None)
        for under_way in self._under_way.pop(port, {}).values():
            heir = next(c for c in causes if c.rank_max is None or under_way.rank <= c.rank_max)
            heir.parents.extend(under_way.causes)

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
