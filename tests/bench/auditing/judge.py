"""One audit in a process of its own; prints the seconds of each stage, and what was found of what was planted."""

from __future__ import annotations

import re
import sys
import time
from itertools import pairwise
from pathlib import Path

from controller.audit import audit


def main() -> None:
    marks = [("imports", time.monotonic())]
    verdict = audit(Path(sys.argv[1]), progress=lambda stage: marks.append((stage, time.monotonic())))
    marks.append(("", time.monotonic()))
    seconds: dict[str, float] = {}
    for (stage, began_s), (_, ended_s) in pairwise(marks):
        name = re.sub(r"\d+ ", "", stage)
        seconds[name] = seconds.get(name, 0.0) + ended_s - began_s
    found = {check.name: check for check in verdict.checks}
    told = {
        **seconds,
        "missing": found["missing"].violations,
        "excused": found["missing"].excused,
        "doubled": found["duplicate"].violations,
    }
    print("\n".join(f"{name}={value:.2f}" for name, value in told.items()))


if __name__ == "__main__":
    main()
