"""One virtual client of a driver: plays its part of the plan in order, and tells everything in the journal."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable

import msgspec

from node import plan
from node.core import client as events
from node.core import records
from node.core.client import ClientState, Held
from node.core.filters import check_content
from node.core.messages import Advertise, Subscribe
from node.core.records import Content, Lang
from node.core.session import MS
from node.journal import Journal
from node.plan import AnyOperation, subject
from node.wire import CONTENT_BYTES_MAX


class Unplayable(ValueError):
    """An operation that cannot be done now or ever; it is refused, and the plan goes on."""


class VirtualClient:
    def __init__(self, state: ClientState, journal: Journal, brokers: Collection[str], must_advertise: bool) -> None:
        self.state = state
        self.name = state.client
        self.todo: deque[tuple[AnyOperation, int]] = deque()
        self.published = 0
        self.delivered = 0
        self._journal = journal
        self._brokers = brokers
        # Who has advertised once publishes only under its advertisements, also after the last one was withdrawn.
        self._must_advertise = must_advertise
        self._texts: dict[str, tuple[str, str, Lang]] = {}
        self._waits_since: int | None = None
        self._met: set[str] = set()

    @property
    def pending(self) -> int:
        return len(self.todo) + self.state.pending

    def advance(self, now: int) -> None:
        """Do what can be done, in order; the first operation that has to wait keeps the others waiting."""
        while self.todo:
            operation, intended_t = self.todo[0]
            try:
                if not self._play(operation, intended_t, now):
                    return
            except ValueError as error:
                self._journal.add(records.Refuse, what=subject(operation), why=f"{type(operation).__name__}: {error}")
            self.todo.popleft()

    def _play(self, operation: AnyOperation, intended_t: int, now: int) -> bool:
        """False if the operation has to wait."""
        match operation:
            case plan.Attach(broker=broker):
                return self._attach(broker, now)
            case plan.Detach(broker=broker, linger_ms=linger_ms):
                return self._detach(broker, round(linger_ms * MS), now)
            case plan.Subscribe(sub=sub, filter=text, lang=lang):
                self.state.subscribe(sub, text, lang)
                self._tell_subscription(records.Subscribe, sub, self._broker(), text, lang)
            case plan.Advertise(adv=adv, filter=text, lang=lang):
                self.state.advertise(adv, text, lang)
                self._must_advertise = True
                self._tell_advertisement(records.Advertise, adv, self._broker(), text, lang)
            case plan.Unsubscribe(sub=sub):
                return self._unsubscribe(sub)
            case plan.Unadvertise(adv=adv):
                return self._unadvertise(adv)
            case plan.Publish(content=content, lang=lang):
                return self._publish(content, lang, intended_t)
        return True

    def _attach(self, broker: str, now: int) -> bool:
        if broker not in self._brokers:
            raise Unplayable(f"no broker {broker!r}; known are {', '.join(sorted(self._brokers))}")
        if self.state.brokers and broker not in self.state.brokers and not self.state.is_confirmed:
            return False  # who moves has all that it wants at the old broker first
        self.state.attach(broker, now)
        self._journal.add(records.Attach, client=self.name, broker=broker)
        self._met.add(broker)
        return True

    def knows(self, broker: str) -> bool:
        return broker in self._met

    def _detach(self, broker: str | None, linger_ns: int, now: int) -> bool:
        self._broker()
        leaves = self.state.brokers if broker is None else (broker,)
        if not set(leaves) <= set(self.state.brokers):
            raise Unplayable(f"it is not attached to {broker}")
        if not self.state.is_confirmed:
            return False  # one thing at a time is asked for a subscription
        if not self._has_lingered(linger_ns, now):
            return False
        for left in leaves:
            self._journal.add(records.Detach, client=self.name, broker=left)
        for delivery in self.state.detach(broker):
            self.take(self._broker(), [delivery])
        self._texts = {key: told for key, told in self._texts.items() if told[0] not in leaves}
        return True

    def _has_lingered(self, linger_ns: int, now: int) -> bool:
        """Looked at whenever the session has something to do, so at least once per heartbeat."""
        if self._waits_since is None:
            self._waits_since = now
        if now - self._waits_since < linger_ns:
            return False
        self._waits_since = None
        return True

    def _unsubscribe(self, sub: str) -> bool:
        if not self._may_cancel(sub, Subscribe):
            return False
        self._tell_subscription(records.Unsubscribe, sub, *self._texts[sub])
        self.state.unsubscribe(sub)
        return True

    def _unadvertise(self, adv: str) -> bool:
        if not self._may_cancel(adv, Advertise):
            return False
        self._tell_advertisement(records.Unadvertise, adv, *self._texts[adv])
        self.state.unadvertise(adv)
        return True

    def _may_cancel(self, key: str, kind: type) -> bool:
        self._broker()
        held = self.state.held.get(key)
        if held is None or not isinstance(held.body, kind) or held.state == "cancelling":
            raise Unplayable("the client does not hold it")
        return held.state == "confirmed"

    def _publish(self, content: Content, lang: Lang, intended_t: int) -> bool:
        broker = self._broker()
        check_content(content, lang)
        if len(msgspec.json.encode(content)) > CONTENT_BYTES_MAX:
            raise Unplayable(f"the content has more than {CONTENT_BYTES_MAX} bytes")
        if self._must_advertise:
            matching = [h.state for h in self.state.held.values() if _announces(h, broker, content, lang)]
            if "confirmed" not in matching:
                if "asked" in matching:
                    return False
                raise Unplayable("none of the client's advertisements matches the content")
        if not self.state.can_publish:
            return False
        made = self.state.publish(content, lang)
        self.published += 1
        self._journal.add(
            records.Publish,
            client=self.name,
            broker=broker,
            msg=made.msg,
            seq=made.seq,
            content=content,
            lang=lang,
            intended_t=intended_t,
        )
        return True

    def _broker(self) -> str:
        if self.state.broker is None:
            raise Unplayable(f"{self.name} is not attached to a broker")
        return self.state.broker

    def take(self, broker: str, happened: Iterable[events.Event]) -> None:
        """Tell what the broker's frame brought."""
        for event in happened:
            match event:
                case events.Delivery():
                    self._tell_delivery(event)
                    self.state.consumed(broker)
                case events.Established(sub=sub):
                    self._tell_subscription(records.Established, sub, *self._texts[sub])
                case events.Unsubscribed(sub=sub):
                    self._tell_subscription(records.Unsubscribed, sub, *self._texts.pop(sub))
                case events.Advertised(adv=adv):
                    self._tell_advertisement(records.Advertised, adv, *self._texts[adv])
                case events.Unadvertised(adv=adv):
                    del self._texts[adv]
                case events.RefusedByBroker(what=what, why=why):
                    self._texts.pop(what, None)
                    self._journal.add(records.Refuse, what=what, why=f"{broker}: {why}")

    def _tell_delivery(self, delivery: events.Delivery) -> None:
        made = delivery.publication
        self.delivered += 1
        self._journal.add(
            records.Deliver,
            client=self.name,
            broker=delivery.broker,
            msg=made.msg,
            publisher=made.publisher,
            seq=made.seq,
            subs=list(delivery.subs),
        )

    def _tell_subscription(self, record: type[records.Record], sub: str, broker: str, text: str, lang: Lang) -> None:
        self._texts[sub] = (broker, text, lang)
        self._journal.add(record, client=self.name, broker=broker, sub=sub, filter=text, lang=lang)

    def _tell_advertisement(self, record: type[records.Record], adv: str, broker: str, text: str, lang: Lang) -> None:
        self._texts[adv] = (broker, text, lang)
        self._journal.add(record, client=self.name, broker=broker, adv=adv, filter=text, lang=lang)


def _announces(held: Held, broker: str, content: Content, lang: Lang) -> bool:
    is_here = isinstance(held.body, Advertise) and held.broker == broker and held.filter.lang == lang
    return is_here and held.filter.matches(content)
