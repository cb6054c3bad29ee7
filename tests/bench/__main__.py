"""`make bench`: the table goes to stdout, progress to stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from tests.bench import core, covering, hop, index, journals, matching, patterns, sim, sizes, split, table
from tests.bench.measure import FULL, QUICK, Effort, Say, Section

SECTIONS: dict[str, Callable[[Effort, Say], Section]] = {
    "hop": hop.measure,
    "journal": journals.measure,
    "matching": matching.measure,
    "mixed": index.measure,
    "equality": index.measure_equality,
    "patterns": patterns.measure,
    "covering": covering.measure,
    "sizes": sizes.measure,
    "filters": matching.measure_filters,
    "core": core.measure,
    "split": split.measure,
    "sim": sim.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"which of {', '.join(SECTIONS)}; all if none")
    parser.add_argument("--quick", action="store_true", help="one very short round of each: does it run at all?")
    options = parser.parse_args()
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section is called {unknown[0]}; there are {', '.join(SECTIONS)}")
    effort = QUICK if options.quick else FULL
    print(
        f"The best of {effort.repetitions} interleaved runs each; × is relative to the baseline above.\n"
        "What runs within one thread is measured by its processor time, the hop by the clock.\n"
        "What was never seen is asked once: the best of as many passes.\n"
    )
    for name in options.sections or SECTIONS:
        say(f"{name} …")
        print("\n".join(table.lines([SECTIONS[name](effort, say)])), flush=True)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
