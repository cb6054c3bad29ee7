"""A live cluster watched: what its nodes answer and what their logs tell, put together for a person."""

from __future__ import annotations

from controller.watch.model import BrokerView, ClusterView, Event, LinkView
from controller.watch.observer import Observer

__all__ = ["BrokerView", "ClusterView", "Event", "LinkView", "Observer"]
