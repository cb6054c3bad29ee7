"""All conjunctions of up to two constraints (and a sample of longer ones) on one attribute, over small pools.

Sets of contents are bit sets over a domain; the domain has, beside all short strings, those that glue a beginning,
a character foreign to all filters, the filters' parts and a suffix: the witnesses by which covering is refuted.
"""

from __future__ import annotations

import json
import math
import random
from functools import reduce
from itertools import combinations, product
from operator import and_

import pytest

from node.core.filters import parse

ORDER = ["=", "!=", "<", "<=", ">", ">="]
STRING_OPERATORS = [*ORDER, "prefix", "suffix", "contains"]
FOREIGN = "z"


HOLDS = {
    "=": lambda value, operand: value == operand,
    "!=": lambda value, operand: value != operand,
    "<": lambda value, operand: value < operand,
    "<=": lambda value, operand: value <= operand,
    ">": lambda value, operand: value > operand,
    ">=": lambda value, operand: value >= operand,
    "prefix": str.startswith,
    "suffix": str.endswith,
    "contains": str.__contains__,
}


def conjunctions(operators, values):
    single = [("exists", None), *product(operators, values)]
    rng = random.Random(7)
    # A lower and an upper bound, then a suffix, a part, a hole: what interacts is drawn together.
    shapes = [
        kinds for kinds in ([">", ">="], ["<", "<="], ["suffix"], ["contains"], ["!="]) if {*kinds} <= {*operators}
    ]
    longer = [
        tuple((rng.choice(kinds), rng.choice(values)) for kinds in rng.sample(shapes, rng.randint(3, len(shapes))))
        for _ in range(150)
    ]
    return [*((each,) for each in single), *combinations(single, 2), *longer]


def text_of(conjunction):
    return " and ".join(
        "x exists" if operator == "exists" else f"x {operator} {json.dumps(operand)}"
        for operator, operand in conjunction
    )


def written_bits(conjunctions, domain):
    """The members of the domain that satisfy each conjunction as written, constraint by constraint."""
    distinct_atoms = dict.fromkeys(atom for each in conjunctions for atom in each)
    atoms = {atom: bits_where(lambda value, atom=atom: atom_holds(*atom, value), domain) for atom in distinct_atoms}
    return [reduce(and_, (atoms[atom] for atom in each)) for each in conjunctions]


def atom_holds(operator, operand, value):
    if operator == "exists":
        return True
    same_kind = not isinstance(value, bool) and isinstance(value, str) == isinstance(operand, str)
    return same_kind and HOLDS[operator](value, operand)


def bits_where(test, domain):
    return int("".join("1" if test(value) else "0" for value in reversed(domain)), 2)


def string_domain(letters, values):
    around = sorted({chr(near) for letter in letters for near in range(ord(letter) - 1, ord(letter) + 2) if near >= 0})
    short = ["".join(each) for length in range(4) for each in product(letters, repeat=length)]
    stems = {value[:length] for value in values for length in range(len(value) + 1)}
    heads = {stem + letter for stem in stems for letter in ("", FOREIGN, *around)}
    fillers = ["", "\0" * 6, "\U0010ffff" * 6]
    some_parts = [some for count in range(3) for some in combinations(values, count)]
    middles = ["", *(FOREIGN + FOREIGN.join(some) + FOREIGN for some in (*some_parts, values))]
    tails = [*values, FOREIGN]
    return sorted({*short, *("".join(pieces) for pieces in product(heads, fillers, middles, tails))})


def relation(filters):
    """For each filter the bit set of those that it covers."""
    return [sum(1 << at for at, other in enumerate(filters) if one.covers(other)) for one in filters]


def members(bits):
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


LETTER_POOLS = {
    "plain": (["a", "b"], ["", "a", "b", "ab", "aba"]),
    "nul": (["\0", "a"], ["", "\0", "a", "a\0", "\0\0"]),
    "nul-deep": (["\0", "a", "\1"], ["a", "a\0\0", "a\0\1", "\0", "\0\0"]),
}


@pytest.mark.parametrize("pool", LETTER_POOLS)
def test_strings_are_decided_exactly(pool):
    letters, values = LETTER_POOLS[pool]
    domain = [*string_domain(letters, values), True]
    check_exact(conjunctions(STRING_OPERATORS, values), domain, random.Random(pool))


def test_numbers_are_decided_exactly():
    near_one = [math.nextafter(1, 0), 1, math.nextafter(1, 2)]
    beyond_doubles = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2]
    end_of_integers = [2**63 - 1, 2.0**63, -(2**63), math.nextafter(-(2.0**63), -math.inf)]
    for values in (near_one, beyond_doubles, end_of_integers):
        domain = [*sorted({near for value in values for near in neighbours(value)}), True]
        check_exact(conjunctions(ORDER, values), domain, random.Random(1))


def test_the_corner_that_is_not_decided_keeps_covering_an_order():
    letters = ["\U0010fffe", "\U0010ffff"]
    filters = distinct(conjunctions(STRING_OPERATORS, ["", *letters, "".join(letters), letters[1] * 2]))
    undecided = (parse(r'x contains "\udbff\udfff"'), parse(r'x >= "\udbff\udffe\udbff\udfff"'))
    assert not undecided[0].covers(undecided[1])
    check_order(filters, relation(filters))


def check_exact(written, domain, rng):
    filters = distinct(written)
    sets = [bits_where(lambda value, one=one: one.matches({"x": value}), domain) for one in filters]
    set_of = dict(zip(filters, sets, strict=True))
    for conjunction, bits in zip(written, written_bits(written, domain), strict=True):
        assert set_of[parse(text_of(conjunction))] == bits, conjunction
    assert [str(each) for each, bits in zip(filters, sets, strict=True) if not bits] == ['never < ""']
    by_set: dict[int, str] = {}
    for filter_, bits in zip(filters, sets, strict=True):
        assert by_set.setdefault(bits, str(filter_)) == str(filter_)
    covered = relation(filters)
    check_order(filters, covered)
    for one, mine in enumerate(sets):
        for other, theirs in enumerate(sets):
            assert bool(covered[one] >> other & 1) == (theirs & ~mine == 0), (filters[one], filters[other])
    for _ in range(10_000):
        one, other = rng.randrange(len(filters)), rng.randrange(len(filters))
        assert filters[one].intersects(filters[other]) == (sets[one] & sets[other] != 0), (filters[one], filters[other])


def check_order(filters, covered):
    for one, row in enumerate(covered):
        for other in members(row):
            assert covered[other] & ~row == 0, ("not transitive", filters[one], filters[other])
            assert one == other or not covered[other] >> one & 1, ("mutual", filters[one], filters[other])


def distinct(written):
    filters = sorted({parse(text) for text in [*map(text_of, written), 'x < ""']})
    assert [parse(str(filter_)) for filter_ in filters] == filters
    return filters


def neighbours(value):
    yield value
    for step in (-math.inf, math.inf):
        near = float(value)
        for _ in range(4):
            near = math.nextafter(near, step)
            yield near
    if abs(value) <= 2**63:
        yield from (each for each in range(int(value) - 4, int(value) + 5) if -(2**63) <= each < 2**63)
