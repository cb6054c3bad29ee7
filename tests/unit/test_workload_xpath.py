from __future__ import annotations

from collections import Counter
from random import Random

from lxml import etree

from controller import topology, workloads
from controller.workloads.attributes import Attributes
from controller.workloads.news import dtd
from controller.workloads.news.documents import Writer
from controller.workloads.plans import Advertise, Attach, Plan, Publish, Subscribe, Unsubscribe
from controller.workloads.xpath import XPath
from node.core import filters

BUSY = XPath(publications=300, rate_hz=100, subscriptions=150, churn_hz=10)


def made(workload: XPath = BUSY, name: str = "tree-13", needs_advertisements: bool = False) -> Plan:
    return workloads.plan(workload, topology.load(name), 1, needs_advertisements)


def of(plan: Plan, kind: type) -> list:  # type: ignore[type-arg]
    return [one for one in plan.operations if isinstance(one, kind)]


def test_documents_are_valid_and_of_their_size() -> None:
    declared = etree.DTD(str(dtd.NEWS))
    writer = Writer(dtd.news(), 60, 1, Random(3))
    counts = []
    for _ in range(200):
        document = etree.fromstring(writer.document())
        assert declared.validate(document), declared.error_log
        counts.append(sum(1 for _ in document.iter()))
    assert 40 <= sum(counts) / len(counts) <= 80


def test_both_languages_stay_apart_and_the_brokers_accept_what_is_planned() -> None:
    plan = made(needs_advertisements=True)
    assert {one.lang for one in plan.operations if isinstance(one, Subscribe | Publish | Advertise)} == {"xpath"}
    assert of(plan, Unsubscribe)
    advertised = {one.filter for one in of(plan, Advertise)}
    assert advertised == {"/news"}
    for one in of(plan, Publish)[:30]:
        filters.check_content(one.content, "xpath")
    for one in of(plan, Subscribe):
        filters.parse(one.filter, "xpath")


def test_a_good_share_of_pairs_match() -> None:
    plan = made()
    documents = [etree.fromstring(one.content) for one in of(plan, Publish)][:60]
    tests = [etree.XPath(f"boolean({one.filter})") for one in of(plan, Subscribe)]
    hits = sum(test(document) for test in tests for document in documents)
    assert 0.1 <= hits / (len(tests) * len(documents)) <= 0.6


def test_publishers_sit_at_producers_and_the_others_at_consumers() -> None:
    for workload in (XPath(publications=9, clients=60), Attributes(publications=9, clients=60)):
        one = topology.load("xroute-89")
        plan = workloads.plan(workload, one, 1, False)
        at = {attach.client: one.broker(attach.broker).role for attach in of(plan, Attach)}
        publishing = {publish.client for publish in of(plan, Publish)}
        assert {at[client] for client in publishing} == {"producer"}
        assert {at[client] for client in at if client not in publishing} == {"consumer"}
        assert len({attach.broker for attach in of(plan, Attach)}) == 25


def test_in_a_transit_stub_overlay_clients_sit_at_stubs_first() -> None:
    one = topology.load("transit-stub-64")
    plan = made(XPath(publications=1, clients=60), "transit-stub-64")
    assert Counter(one.broker(attach.broker).role for attach in of(plan, Attach)) == {"stub": 60}
