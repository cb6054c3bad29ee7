"""Which steps an element can be by itself: its name and its tests, whatever is below it."""

from __future__ import annotations

from node.core.filters.xpath.document import Document
from node.core.filters.xpath.evaluation import passes
from node.core.filters.xpath.pattern import Step, Tests
from node.core.filters.xpath.syntax import ANY
from node.core.matching.bits import Group, bits_of, grouped, pick


class _Tested:
    """The steps of one name that have tests, by the first attribute that these ask for, or by the text."""

    def __init__(self) -> None:
        self.by_attribute: dict[tuple[str, str | None], list[tuple[int, Tests]]] = {}
        self.by_text: dict[str, int] = {}

    def add(self, number: int, tests: Tests) -> None:
        attributes, text = tests
        if attributes:
            self.by_attribute.setdefault(attributes[0], []).append((number, tests))
        else:
            assert text is not None
            self.by_text[text] = number

    def passed(self, document: Document, element: int) -> int:
        """The numbers of the tests that the element passes, as bits."""
        found = 0
        if self.by_attribute:
            for name, value in document.attributes[element].items():
                for key in ((name, None), (name, value)):
                    for number, tests in self.by_attribute.get(key, ()):
                        if passes(document, element, tests):
                            found |= 1 << number
        if self.by_text:
            number_of_text = self.by_text.get(document.value(element))
            if number_of_text is not None:
                found |= 1 << number_of_text
        return found


class Names:
    def __init__(self) -> None:
        self._plain: dict[str, list[int]] = {}
        # The steps with tests, and the numbers of those that are equal in name and tests.
        self._alike: list[list[int]] = []
        self._numbers: dict[tuple[str, Tests], int] = {}
        self._tested: dict[str, _Tested] = {}

    def add(self, slot: int, step: Step) -> None:
        own = self._plain.setdefault(step.name, [])
        tests = step.tests
        if tests is None:
            own.append(slot)
            return
        number = self._numbers.setdefault((step.name, tests), len(self._alike))
        if number == len(self._alike):
            self._alike.append([])
            self._tested.setdefault(step.name, _Tested()).add(number, tests)
        self._alike[number].append(slot)

    def close(self, width: int) -> None:
        """All have been added, `width` slots in all."""
        self._anything = bits_of(self._plain.pop(ANY, []))
        self._groups: dict[str, Group] = {name: grouped(slots, width) for name, slots in self._plain.items()}
        self._groups_alike = [grouped(slots, width) for slots in self._alike]
        self._tested_anywhere = self._tested.pop(ANY, None)
        self.have_tests = bool(self._alike)

    def __contains__(self, name: str) -> bool:
        """Whether some step has this name."""
        return name in self._groups

    def passed(self, document: Document, element: int) -> int:
        """The numbers of the tests that the element passes, as bits."""
        own, anywhere = self._tested.get(document.names[element]), self._tested_anywhere
        found = own.passed(document, element) if own is not None else 0
        return found | anywhere.passed(document, element) if anywhere is not None else found

    def candidates(self, name: str | None, passed: int) -> int:
        """The steps that an element of this name can be, None being a name that no step has."""
        found = self._anything
        if name is not None:
            found |= bits_of(self._groups[name])
        for slots in pick(passed, self._groups_alike):
            found |= bits_of(slots)
        return found
