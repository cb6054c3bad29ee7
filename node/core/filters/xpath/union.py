"""Two patterns together: whether a document can hold both, and the rare pattern that is exactly 'either'."""

from __future__ import annotations

from collections.abc import Iterator

from node.core.filters.xpath.normal import reduced
from node.core.filters.xpath.pattern import Step
from node.core.filters.xpath.syntax import ANY


def are_compatible(one: Step, other: Step) -> bool:
    """False only if no document holds both. Only the root is an element that both must speak of.

    Exact but for texts: that the texts of branches do not fit side by side into a given text is not seen.
    """
    for root, rest in ((one, other), (other, one)):
        if not root.is_deep and root.value is not None:
            whole = root.value
            if any(step.value is not None and step.value not in whole for step in rest.steps()):
                return False
    if one.is_deep or other.is_deep:
        return True
    if ANY not in (one.name, other.name) and one.name != other.name:
        return False
    if one.value is not None and other.value is not None and one.value != other.value:
        return False
    values = dict(other.attributes)
    return all(value is None or values.get(name) in (None, value) for name, value in one.attributes)


def join(exact: Step, longer: Step) -> Step | None:
    """One pattern for both if they differ in how far apart two steps are: `a/b` and `a//*//b` are `a//b`.

    At a distance of exactly n, or of more than n, is at a distance of n or more.
    """
    if exact.size >= longer.size:
        return None
    for shorter, tight in _shortened(longer):
        if reduced(tight).path == exact.path:
            return reduced(shorter)
    return None


def _shortened(top: Step) -> Iterator[tuple[Step, Step]]:
    """For each plain `*` with one child, hung by `//`: the pattern without it; and that with `/` for `//`."""
    if top.is_plain and top.is_deep and len(top.children) == 1:
        yield top.children[0], _tight(top.children[0])
    for at, child in enumerate(top.children):
        siblings = (*top.children[:at], *top.children[at + 1 :])
        for shorter, tight in _shortened(child):
            yield top.with_children((*siblings, shorter)), top.with_children((*siblings, tight))


def _tight(step: Step) -> Step:
    """With `/` down to the end of the run of plain `*` that begins here."""
    tight = step.with_axis(is_deep=False)
    if step.is_plain and len(step.children) == 1:
        return tight.with_children((_tight(step.children[0]),))
    return tight
