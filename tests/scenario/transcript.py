"""Stories as text: commands above, what came of them below; `pytest --rewrite` accepts a change once its diff is read.

    links b1-b2 b2-b3            attach c1 b1                advertise c1 a1 *
    subscribe c1 s1 x > 3        unsubscribe s1              publish c1 {"x": 5}
    unadvertise c1 a1            detach c1                   pause c1 | resume c1
    cut b1-b2 | mend b1-b2       kill b2 | start b2          run 500          settle        table b2
`scheme NAME` and `credit N` may stand before `links`; a client that has left, or is about to (`detach c1 b1`), may be
attached elsewhere.
Each paragraph is one or more commands; below `----` stands what the network did because of them.
"""

from __future__ import annotations

import json

from controller.campaigns import transcript as simulated
from node.core.session import MS, Limits
from tests.simulation.net import Net, Wire


class Teller:
    def __init__(self, scheme: str, credit: int, links: list[tuple[str, str]]) -> None:
        self.net = Net(scheme, links, wire=Wire(delay_ns_max=1 * MS), work_ns_max=0, limits=Limits(credit=credit))

    def tell(self, command: str) -> list[str]:
        net = self.net
        forwards, deliveries = len(net.forwards), len(net.history.deliveries)
        confirmed = self._confirmed()
        shown = self._do(*command.split(maxsplit=3))
        lines = [f"{a} -> {b}: {kind} {what or ''}".rstrip() for a, b, kind, what in self._traffic(forwards)]
        lines += [f"{c} gets {msg} for {' '.join(subs)}" for c, msg, subs in net.history.deliveries[deliveries:]]
        lines += [word for word in self._confirmed() if word not in confirmed]
        return lines + shown

    def _traffic(self, start: int) -> list[tuple[str, str, str, str | None]]:
        """Between brokers, without the confirmations: they would drown the story."""
        return [f for f in self.net.forwards[start:] if f[1] in self.net.names and f[2] != "settled"]

    def _confirmed(self) -> list[str]:
        words = []
        for sub, subscribed in self.net.history.subs.items():
            if subscribed.established_at is not None:
                words.append(f"{sub} established")
            if subscribed.cancelled_at is not None:
                words.append(f"{sub} unsubscribed")
        return words

    def _do(self, verb: str, *words: str) -> list[str]:  # noqa: PLR0912 - one line per command of the language
        net = self.net
        match verb, words:
            case "attach", (client, broker) if client in net.clients:
                net.attach(client, broker)
            case "detach", (client,):
                net.detach(client)
            case "detach", (client, broker):
                net.detach(client, broker)
            case "pause", (client,):
                net.paused.add(client)
            case "resume", (client,):
                net.paused.discard(client)
            case "unadvertise", (client, adv):
                net.unadvertise(client, adv)
            case "attach", (client, broker):
                net.add_client(client, broker)
            case "advertise", (client, adv, text):
                net.advertise(client, adv, text)
            case "subscribe", (client, sub, text):
                net.subscribe(client, sub, text)
            case "unsubscribe", (sub,):
                net.unsubscribe(sub)
            case "publish", (client, *rest):
                net.publish(client, json.loads(" ".join(rest)))
            case "cut", (link,):
                net.cut.add(frozenset(link.split("-")))
            case "mend", (link,):
                net.cut.discard(frozenset(link.split("-")))
            case "kill", (broker,):
                net.kill(broker)
            case "start", (broker,):
                net.start(broker)
            case "run", (ms,):
                net.run(int(ms) * MS)
            case "settle", ():
                net.settle()
                net.check()
            case "table", (broker,):
                return [f"{e['sub']} from {e['from']}: {e['filter']}" for e in net.brokers[broker].scheme.table()]
            case _:
                raise ValueError(f"not a command: {verb} {' '.join(words)}")
        return []


def play(text: str) -> str:
    """The transcript as it comes out now; one that says `simulate` is a whole run, as `campaign shrink` writes them."""
    if any(line.startswith(simulated.FIRST) for line in text.splitlines()):
        return simulated.tell(text)
    teller: Teller | None = None
    scheme, credit = "simple", Limits().credit
    told: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        commands = paragraph.split("\n----")[0].splitlines()
        results: list[str] = []
        for command in commands:
            if command.startswith("#"):
                continue
            if command.startswith("scheme "):
                scheme = command.split()[1]
            elif command.startswith("credit "):
                credit = int(command.split()[1])
            elif command.startswith("links "):
                teller = Teller(scheme, credit, [(a, b) for a, b in (pair.split("-") for pair in command.split()[1:])])
            else:
                assert teller is not None, "a story begins with its links"
                results += teller.tell(command)
        told.append("\n".join([*commands, "----", *results] if results else commands))
    return "\n\n".join(told) + "\n"
