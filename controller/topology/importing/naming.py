"""Names for brokers out of labels that were never meant to be host names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from controller.topology import naming

# Letters that have no decomposition.
_SPELT = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "Æ": "Ae", "đ": "d", "Đ": "D"})
ROOM = 5
"""Letters kept free for a number behind a name that is not the only one."""


def unique(wishes: Iterable[tuple[str, str]], reserved: Iterable[str]) -> list[str]:
    """For each label and id a legal name, no two alike even to those who do not tell case."""
    taken = {name.lower() for name in reserved}
    made = []
    for label, id_ in wishes:
        wish = legal(label) or legal(f"b{id_}") or "b"
        name, number = wish, 1
        while name.lower() in taken or naming.complaint(name):
            number += 1
            name = f"{wish}_{number}"
        taken.add(name.lower())
        made.append(name)
    return made


def legal(label: str) -> str:
    """The label in the letters that names have; empty if nothing is left of it."""
    plain = unicodedata.normalize("NFKD", label.translate(_SPELT)).encode("ascii", "ignore").decode()
    word = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    if word and not word[0].isalpha():
        word = f"b{word}"
    return word[: naming.LENGTH_MAX - ROOM].rstrip("_")
