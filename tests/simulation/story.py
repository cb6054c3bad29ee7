"""Random stories on a simulated network, and what must be true of them."""

from __future__ import annotations

from hypothesis import strategies as st

from node.core.filters import parse
from node.core.session import MS, Limits
from tests.simulation.net import Net, Wire

FILTERS = ("*", "x > 0", "x > 2", "x < 3", "x = 1", "y exists", "x > 0 and y < 3", "x = 1 or y = 2",
           "x >= 1 and x <= 2", "x > 1 and x < 4", "y != 2", 'z prefix "a"')  # fmt: skip
ADVERTISED = ("*", "x exists", "x >= 1", "x < 3")
TREES = (
    [("b1", "b2")],
    [("b1", "b2"), ("b2", "b3")],
    [("b1", "b2"), ("b2", "b3"), ("b2", "b4"), ("b4", "b5")],
    [("b1", "b2"), ("b1", "b3"), ("b2", "b4"), ("b2", "b5"), ("b3", "b6"), ("b3", "b7")],
    [("b1", "b2"), ("b2", "b3"), ("b3", "b4"), ("b4", "b1"), ("b2", "b4")],
)

# What may be told of a client that stands still, or is about none.
PASSES_BY_CLIENTS = ("unsubscribe", "settle", "run", "cut", "mend", "kill", "start", "resume")
OF_PUBLISHERS = ("publish", "burst", "withdraw", "readvertise")
small = st.integers(0, 40)
CALM = (*("subscribe",) * 4, *("unsubscribe",) * 3, *("publish",) * 4, "readvertise", "settle", *("run",) * 3)
RESTLESS = (*("subscribe",) * 3, *("publish",) * 8, *("move",) * 6, "detach", "attach", "restart-client",
            *("run",) * 4, *("settle",) * 3, *("cut",) * 2, "mend")  # fmt: skip
CONGESTED = (*("subscribe",) * 6, *("burst",) * 5, *("run",) * 3, *("pause",) * 2, *("withdraw",) * 3, "readvertise",
             "unsubscribe", "resume", "settle")  # fmt: skip
ROUGH = (*CALM, "cut", "mend")
DEADLY = (*ROUGH, "kill", "start", "start")
EVERYTHING = (*DEADLY, *RESTLESS, *CONGESTED)


def operations(
    kinds: tuple[str, ...], max_size: int = 40, min_size: int = 0
) -> st.SearchStrategy[list[tuple[str, int, int]]]:
    return st.lists(st.tuples(st.sampled_from(kinds), small, small), min_size=min_size, max_size=max_size)


class Story:
    def __init__(
        self,
        scheme: str,
        tree: list[tuple[str, str]],
        seed: int,
        wire: Wire,
        credit: int = 8,
        publishers: int | None = None,
    ) -> None:
        self.net = Net(scheme, tree, seed=seed, wire=wire, limits=Limits(credit=credit, window=16, batch=4))
        self.clients = [f"c{i}" for i, _ in enumerate(self.net.names)]
        self.home = dict(zip(self.clients, self.net.names, strict=True))
        self.epoch = 0
        self.deadly_epochs: set[int] = set()
        self.published_in: dict[str, int] = {}
        self.cancelled_in: dict[str, int] = {}
        self.advertised: dict[str, str] = {}
        self.lost_with_publisher: set[str] = set()
        self.next_id = 0
        for client, broker in self.home.items():
            self.net.add_client(client, broker)
        self.net.settle()
        for client in self.clients[:publishers]:
            self._advertise(client, "*")
        self.settle()
        self.net.after_step = lambda broker: self.net.brokers[broker].scheme.check()

    def settle(self) -> None:
        self.net.paused.clear()
        self.net.settle()
        self.epoch += 1

    def _fresh(self, prefix: str) -> str:
        self.next_id += 1
        return f"{prefix}{self.next_id}"

    def _advertise(self, client: str, text: str) -> None:
        adv = self._fresh("a")
        self.net.advertise(client, adv, text)
        self.advertised[client] = adv

    def play(self, kind: str, i: int, j: int) -> None:  # noqa: PLR0912 - one case per kind of operation
        net = self.net
        acting = list(self.advertised) if kind in OF_PUBLISHERS else self.clients
        client = acting[i % len(acting)]
        match kind:
            case _ if client in net.paused and kind not in PASSES_BY_CLIENTS:
                pass  # who stands still asks for nothing
            case "detach" | "attach" | "move" | "restart-client" | "withdraw":
                self._come_and_go(kind, client, i, j)
            case "pause":
                net.paused.add(client)
            case "resume":
                net.paused.clear()
            case "burst":
                for k in range(j % 8):
                    self._publish(client, {"x": k % 5, "y": j % 3})
                    net.run(100 * MS)
            case "subscribe" if net.clients[client].broker is not None:
                net.subscribe(client, self._fresh("s"), FILTERS[j % len(FILTERS)])
            case "unsubscribe":
                self._unsubscribe(i)
            case "publish":
                self._publish(client, {"x": j % 5, "y": j % 3} if j % 7 else {"z": "ab"})
            case "readvertise":
                self._readvertise(client, ADVERTISED[j % len(ADVERTISED)])
            case "settle" if set(net.brokers) == set(net.names) and not net.cut:
                self.settle()
            case "run":
                net.run(j * 20 * MS)
            case "cut":
                net.cut.add(frozenset(net.links[i % len(net.links)]))
            case "mend":
                net.cut.clear()
            case "kill":
                self._kill(net.names[i % len(net.names)])
            case "start":
                for name in net.names:
                    if name not in net.brokers:
                        net.start(name)

    def _come_and_go(self, kind: str, client: str, i: int, j: int) -> None:
        state = self.net.clients[client]
        match kind:
            case "detach" if state.broker is not None and all(h.state == "confirmed" for h in state.held.values()):
                self._cancelled(client)
                self.net.detach(client)
            case "attach" if state.broker is None:
                self._attach(client, i, j)
            case "move":
                self._come_and_go("detach", client, i, j)
                self._come_and_go("attach", client, i, j)
            case "restart-client" if state.broker is not None and not state.pending:
                self._cancelled(client)
                # What a dead client had published may have died with it.
                self.lost_with_publisher |= self._published_now(client)
                self.net.restart_client(client)
                self._attach(client, i, self.net.names.index(state.broker))
            case "withdraw" if (adv := self.advertised[client]) in state.held:
                if state.held[adv].state == "confirmed":
                    self.net.unadvertise(client, adv)

    def _attach(self, client: str, i: int, j: int) -> None:
        # A publisher that overtakes its own messages by moving is out of order; it waits until they have arrived.
        broker = self.home[client] if self._published_now(client) else self.net.names[j % len(self.net.names)]
        self.home[client] = broker
        self.net.attach(client, broker)
        self._advertise(client, "*")
        for k in range(j % 3):
            self.net.subscribe(client, self._fresh("s"), FILTERS[(i + k) % len(FILTERS)])

    def _published_now(self, client: str) -> set[str]:
        published = self.net.history.published
        return {m for m, epoch in self.published_in.items() if epoch == self.epoch and published[m].publisher == client}

    def _cancelled(self, client: str) -> None:
        for key in self.net.clients[client].held:
            self.cancelled_in.setdefault(key, self.epoch)

    def _unsubscribe(self, i: int) -> None:
        subs = [
            s for s, sub in self.net.history.subs.items()
            if sub.established_at is not None and s not in self.cancelled_in and sub.client not in self.net.paused
        ]  # fmt: skip
        if subs:
            sub = subs[i % len(subs)]
            self.net.unsubscribe(sub)
            self.cancelled_in[sub] = self.epoch

    def _publish(self, client: str, content: dict[str, object]) -> None:
        state = self.net.clients[client]
        if self.advertised[client] in state.held and state.can_publish and state.may_publish(content, "attr"):  # type: ignore[arg-type]
            self.published_in[self.net.publish(client, content)] = self.epoch

    def _readvertise(self, client: str, text: str) -> None:
        """Advertise before you withdraw; the withdrawal waits for the confirmation."""
        state = self.net.clients[client]
        advs = {key: held for key, held in state.held.items() if hasattr(held.body, "adv")}
        if state.broker is not None and all(held.state == "confirmed" for held in advs.values()):
            for key in [key for key in advs if key != self.advertised[client]]:
                state.unadvertise(key)
            self._advertise(client, text)

    def _kill(self, name: str) -> None:
        if name in self.net.brokers:
            self.net.kill(name)
            self.deadly_epochs.add(self.epoch)

    def finish(self) -> None:
        self.net.cut.clear()
        self.play("start", 0, 0)
        self.settle()
        for i, client in enumerate(self.advertised):
            for j in range(5):
                self._publish(client, {"x": j, "y": (i + j) % 3})
        self.settle()
        self.check()

    def check(self) -> None:
        self.net.check()
        assert self.net.refused == []
        self._check_nothing_spurious_doubled_or_reordered()
        self._check_nothing_missing()

    def _check_nothing_spurious_doubled_or_reordered(self) -> None:
        history = self.net.history
        seen: dict[tuple[str, str], int] = {}
        for client, msg, subs in history.deliveries:
            published = history.published[msg]
            assert subs, f"{msg} was delivered to {client} for nothing"
            for sub in subs:
                subscribed = history.subs[sub]
                assert subscribed.client == client
                assert parse(subscribed.text).matches(published.content), f"{msg} does not match {sub}"  # type: ignore[arg-type]
                assert subscribed.cancelled_at is None or published.at < subscribed.cancelled_at
            last = seen.get((client, published.publisher), 0)
            assert published.seq > last, f"{client} got {msg} after {published.publisher}:{last}"
            seen[client, published.publisher] = published.seq

    def _check_nothing_missing(self) -> None:
        history = self.net.history
        got = {(client, msg): set(subs) for client, msg, subs in history.deliveries}
        for msg, published in history.published.items():
            if self.published_in[msg] in self.deadly_epochs or msg in self.lost_with_publisher:
                continue
            for sub, subscribed in history.subs.items():
                if subscribed.established_at is None or subscribed.established_at >= published.at:
                    continue
                if sub in self.cancelled_in and self.cancelled_in[sub] <= self.published_in[msg]:
                    continue
                if parse(subscribed.text).matches(published.content):  # type: ignore[arg-type]
                    assert sub in got.get((subscribed.client, msg), ()), f"{sub} at {subscribed.client} missed {msg}"

    def leave(self) -> None:
        """Everyone goes; nothing may be left behind in any table."""
        for name, client in self.net.clients.items():
            if client.broker is not None:
                self.net.detach(name)
        self.settle()
        for name, broker in self.net.brokers.items():
            assert broker.scheme.size() == 0, f"{name} still has {broker.scheme.table()}"
