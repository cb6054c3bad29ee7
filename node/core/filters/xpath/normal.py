"""The normal form of a pattern.

1. Tests of one step become one set; two values for one attribute, or for the text, match nothing. A step whose text is
   given has nothing below it whose text is no part of that.
2. Where `/` and `//` mean the same it is `//`. A plain `*` (without tests) of which everything hangs by `//` may as
   well lie deeper: `a/*//b` is `a//*//b`, `a/*` is `a//*`, `/*` is `//*`. And what is alone below a plain `*` that
   hangs by `//` may too: `a//*/b` is `a//*//b`. Neither makes the other possible, so upwards, then downwards, is all.
3. A branch that can be laid onto a sibling says nothing new and goes. If any way to lay a pattern onto itself misses a
   step, then there is such a branch: follow the way down from the top to the first step that is moved; it goes to a
   sibling's branch, because in its own it would find less height. So what is left is a core, and two cores that can
   be laid onto each other are the same.

3 may leave a `*` with one child, which is 2's business; each round removes a step or is the last.
"""

from __future__ import annotations

from node.core.filters.xpath.pattern import Step
from node.core.filters.xpath.shape import Shape, places
from node.core.filters.xpath.syntax import Written


def normal(written: Written) -> Step | None:
    """None if no document can match, as far as that is seen."""
    top = _with_single_tests(written, None)
    return None if top is None else reduced(top)


def reduced(top: Step) -> Step:
    size = top.size + 1
    while top.size < size:
        size = top.size
        top = _folded(_loosened_downwards(_loosened_upwards(top)))
    return top


def _with_single_tests(written: Written, within: str | None) -> Step | None:
    """`within` is the text of the nearest step above whose text is given."""
    attributes: dict[str, str | None] = {}
    for name, value in written.attributes:
        known = attributes.setdefault(name, value)
        if known is None:
            attributes[name] = value
        elif value not in (None, known):
            return None
    values = set(written.values)
    if len(values) > 1:
        return None
    value = values.pop() if values else None
    if value is not None and within is not None and value not in within:
        return None
    children = []
    for each in written.children:
        child = _with_single_tests(each, within if value is None else value)
        if child is None:
            return None
        children.append(child)
    return Step(written.is_deep, written.name, tuple(sorted(attributes.items())), value, children)


def _loosened_upwards(step: Step) -> Step:
    children = [_loosened_upwards(child) for child in step.children]
    is_deep = step.is_deep or (step.is_plain and all(child.is_deep for child in children))
    if is_deep == step.is_deep and all(map(_is, children, step.children)):
        return step
    return Step(is_deep, step.name, step.attributes, step.value, children)


def _loosened_downwards(step: Step) -> Step:
    children = step.children
    if len(children) == 1 and step.is_deep and step.is_plain:
        children = (children[0].with_axis(is_deep=True),)
    changed = [_loosened_downwards(child) for child in children]
    return step if all(map(_is, changed, step.children)) else step.with_children(changed)


def _is(one: Step, other: Step) -> bool:
    return one is other


def _folded(top: Step) -> Step:
    if all(len(step.children) < 2 for step in top.steps()):
        return top
    shape = Shape(top)
    found = places(shape, shape)
    assert found is not None
    number = {id(step): at for at, step in enumerate(shape.steps)}

    def lies_on(step: Step, sibling: Step) -> bool:
        at = number[id(sibling)]
        onto = shape.below[at] | 1 << at if step.is_deep else 0 if sibling.is_deep else 1 << at
        return bool(found[number[id(step)]] & onto)

    def fold(step: Step) -> Step:
        kept = list(step.children)
        for child in step.children:
            if any(sibling is not child and lies_on(child, sibling) for sibling in kept):
                kept.remove(child)
        folded = [fold(child) for child in kept]
        return step if len(kept) == len(step.children) and all(map(_is, folded, kept)) else step.with_children(folded)

    return fold(top)
