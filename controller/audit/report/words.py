"""What the numbers mean, in sentences."""

from __future__ import annotations

from controller.audit.report.model import Check, RunData, Verdict
from controller.text import clean, count, duration, plural

PROMISES = {
    "perfect": (
        "Exactly the interested clients get each message, once, in publisher order, as long as no broker dies. "
        "Links may be cut, slow or lossy."
    ),
    "self-healing": (
        "Exactly the interested clients get each message, once, in publisher order. After a crashed broker is back, "
        "routing is perfect again by itself; only messages under way in the fault's window may be lost."
    ),
    "lossless": (
        "Exactly the interested clients get each message, once, in publisher order. "
        "Nothing is lost even when brokers die."
    ),
}

CHECKS = {
    "missing": "Every required message reached its subscriber.",
    "spurious": "Nobody got a message they had not asked for.",
    "duplicate": "No client got a message twice.",
    "order": "Messages of one publisher arrived in the order they were sent.",
    "gaps": "No publisher's sequence has holes where a message was due.",
    "unsubscribed": "Nothing came for a subscription that was confirmed to be cancelled.",
    "links": "What one broker sent, its neighbour handled.",
    "false-positives": "No message crossed a link behind which nobody wanted it.",
    "excess": "Every message took the ideal delivery tree.",
    "loops": "No broker met a message twice.",
    "settled": "Every request came to its end.",
    "refused": "Nothing was refused that is well-formed.",
    "promises": "Losses are excused only by deaths that happened.",
    "overload": "No broker stood still for longer than a fault explains.",
    "integrity": "The logs are whole: no gaps, no broken lines, every file closed.",
    "measured": "Every fault was seen to bite, and the machine kept up.",
    "confirmed": "Deliveries were at stake, and every subscription was confirmed.",
    "advertised": "Publishers kept to what they had advertised.",
    "subs": "Each delivery names exactly the subscriptions it was for.",
}

FAIL_IS = (
    "says that at least one property was broken, and this page shows where: publication, subscription, path and the "
    "fault window it fell into. It outweighs whatever could not be told."
)
FAIL_WOULD = "would say that at least one property was broken, with publication, subscription, path and fault window."
UNKNOWN_IS = (
    "says that the evidence does not suffice: a log is missing, cut off or damaged, nothing was required, or a check "
    "could not run. An unknown is not a pass."
)
UNKNOWN_WOULD = (
    "would say that the evidence does not suffice: a log missing, cut off or damaged, nothing required, or a check "
    "that could not run. An unknown is not a pass."
)

LABELS = {"pass": "Pass", "fail": "Fail", "unknown": "Unknown"}


def headline(data: RunData) -> str:
    required = data.counts.get("pairs_required")
    broken = broken_total(data)
    if data.verdict == "pass":
        excused = excused_total(data)
        start = f"{plural(required, 'delivery was', 'deliveries were')} required. " if required else ""
        lost = f", except {count(excused)} lost around broker deaths, as the promise allows" if excused else ""
        held = {check.name for check in data.checks if check.verdict == "pass"}
        if not held >= {"missing", "duplicate", "order"}:
            return f"Every check that the audit ran holds{lost}."
        return f"{start}All arrived, once and in order{lost}."
    if data.verdict == "fail":
        checks = [check.name for check in data.checks if check.verdict == "fail"]
        if broken and checks:
            return f"{_capital(plural(broken, 'violation'))} of what the scheme promises: {_listed(checks)}."
        return "The scheme broke what it promises."
    if data.damage_total:
        return f"It cannot be told: the logs are damaged in {plural(data.damage_total, 'place')}."
    return "It cannot be told from these logs."


def meanings(data: RunData) -> list[tuple[Verdict, str]]:
    """What each verdict says about this run, or would say; a reader must not take an unknown for a pass."""
    return [
        ("pass", _kept(data) if data.verdict == "pass" else f"would say that {_promise_kept(data)}."),
        ("fail", FAIL_IS if data.verdict == "fail" else FAIL_WOULD),
        ("unknown", UNKNOWN_IS if data.verdict == "unknown" else UNKNOWN_WOULD),
    ]


def _promise_kept(data: RunData) -> str:
    scheme = clean(data.run.get("scheme") or "the scheme", 60)
    promise = data.run.get("promise")
    promised = f"the promise “{clean(promise, 60)}”" if promise else "its promise"
    required = data.counts.get("pairs_required")
    scope = f" over {plural(required, 'required delivery', 'required deliveries')}" if required else ""
    return f"{scheme} kept {promised}{scope}, judged from the logs alone"


def _kept(data: RunData) -> str:
    deaths = sum(fault.family == "death" for fault in data.faults)
    excused = excused_total(data)
    text = f"says that {_promise_kept(data)}."
    if excused:
        are = "is" if excused == 1 else "are"
        return f"{text} {plural(excused, 'loss', 'losses')} inside fault windows {are} excused by it."
    if deaths:
        return f"{text} {plural(deaths, 'broker death')} included; nothing had to be excused."
    return text


def promise_words(promise: object) -> str:
    return PROMISES.get(str(promise), "")


def check_words(check: Check) -> str:
    """A check that holds is told by what it holds; one that does not, by what was found."""
    if check.verdict == "pass":
        words = CHECKS.get(check.name, check.summary)
        return f"{words.removesuffix('.')}, but for what is excused." if check.excused else words
    return check.summary or CHECKS.get(check.name, "")


def flight_words(flight_ns: int | None) -> str:
    if flight_ns is None:
        return ""
    return (
        f"A delivery counts as due within {duration(flight_ns)} of its publication (the run's flight time): "
        "a subscription withdrawn sooner makes a pair permitted, not required."
    )


def broken_total(data: RunData) -> int:
    """What an undecided check counts is doubt, not a violation."""
    listed = sum(group.total for group in data.broken)
    return max(listed, sum(check.violations for check in data.checks if check.verdict == "fail"))


def excused_total(data: RunData) -> int:
    return max(sum(group.total for group in data.excused), sum(check.excused for check in data.checks))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
