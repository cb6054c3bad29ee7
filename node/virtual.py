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
        self._texts: dict[str, tuple[str, Lang]] = {}
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
                self._attach(broker, now)
            case plan.Detach():
                return self._detach()
            case plan.Subscribe(sub=sub, filter=text, lang=lang):
                self.state.subscribe(sub, text, lang)
                self._tell_subscription(records.Subscribe, sub, text, lang)
            case plan.Advertise(adv=adv, filter=text, lang=lang):
                self.state.advertise(adv, text, lang)
                self._must_advertise = True
                self._tell_advertisement(records.Advertise, adv, text, lang)
            case plan.Unsubscribe(sub=sub):
                return self._unsubscribe(sub)
            case plan.Unadvertise(adv=adv):
                return self._unadvertise(adv)
            case plan.Publish(content=content, lang=lang):
                return self._publish(content, lang, intended_t)
        return True

    def _attach(self, broker: str, now: int) -> None:
        if self.state.broker is not None:
            raise Unplayable(f"it is attached to {self.state.broker} already")
        if broker not in self._brokers:
            raise Unplayable(f"no broker {broker!r}; known are {', '.join(sorted(self._brokers))}")
        self._journal.add(records.Attach, client=self.name, broker=broker)
        self.state.attach(broker, now)
        self._met.add(broker)

    def knows(self, broker: str) -> bool:
        return broker in self._met

    def _detach(self) -> bool:
        broker = self._broker()
        if any(held.state != "confirmed" for held in self.state.held.values()):
            return False  # one thing at a time is asked for a subscription
        self._journal.add(records.Detach, client=self.name, broker=broker)
        self.state.detach()
        self._texts.clear()
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
            matching = [h.state for h in self.state.held.values() if _announces(h, content, lang)]
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

    def _tell_subscription(self, record: type[records.Record], sub: str, text: str, lang: Lang) -> None:
        self._texts[sub] = (text, lang)
        self._journal.add(record, client=self.name, broker=self._broker(), sub=sub, filter=text, lang=lang)

    def _tell_advertisement(self, record: type[records.Record], adv: str, text: str, lang: Lang) -> None:
        self._texts[adv] = (text, lang)
        self._journal.add(record, client=self.name, broker=self._broker(), adv=adv, filter=text, lang=lang)


def _announces(held: Held, content: Content, lang: Lang) -> bool:
    return isinstance(held.body, Advertise) and held.filter.lang == lang and held.filter.matches(content)
