"""`make bench-audit`: generated logs of growing size, audited, beside DuckDB asked for the missing deliveries."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.bench.auditing import traffic
from tests.bench.auditing.watched import Watched, watch

SIZES = (100_000, 1_000_000, 10_000_000)
MB = 2**20


class Told(NamedTuple):
    """What a judge's process printed on its last line: numbers by name."""

    watched: Watched
    numbers: dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.auditing", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=lambda text: int(float(text)), default=SIZES, metavar="LINES")
    sizes = parser.parse_args().sizes
    print("lines per second by the clock; memory is that of all processes together, JVM and Python\n", flush=True)
    is_right = True
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="brokerlab-bench-audit-") as folder:
            say(f"writing {size:,} lines …")
            written = traffic.write(Path(folder) / "run", size)
            say("auditing …")
            ours = judged("tests.bench.auditing.judge", Path(folder) / "run")
            say("asking DuckDB …")
            duck = judged("tests.bench.auditing.duck", Path(folder) / "run")
        is_right &= report(written, ours, duck)
    return 0 if is_right else 1


def judged(module: str, run: Path) -> Told:
    with tempfile.TemporaryFile("w+") as out:
        watched = watch([sys.executable, "-m", module, str(run)], stdout=out, stderr=subprocess.DEVNULL)
        out.seek(0)
        said = out.read()
    if watched.status:
        raise SystemExit(f"{module} ended with status {watched.status}")
    return Told(watched, {name: float(value) for name, value in re.findall(r"([\w ]+)=([\d.]+)", said)})


def report(written: traffic.Written, ours: Told, duck: Told) -> bool:
    """What the audit found must be what was planted."""
    planted = {"missing": written.lost, "excused": written.lost_in_fault, "doubled": written.doubled}
    found = {name: int(ours.numbers.get(name, -1)) for name in planted}
    audit, query = ours.watched, duck.watched
    print(f"{written.lines:,} lines, {written.bytes / MB:,.0f} MB, {written.publications:,} publications")
    for name, told in (("audit, all checks", audit), ("DuckDB, missing deliveries only", query)):
        print(f"  {name:<32} {written.lines / told.seconds:>10,.0f} lines/s  {told.seconds:>7.1f} s  "
              f"{told.cpu_s:>7.1f} s CPU  {told.memory_bytes_max / MB:>7,.0f} MB")  # fmt: skip
    print(f"  {'ratio':<32} {audit.seconds / query.seconds:>10.1f} × the time")
    print(f"  of the audit's memory the JVM has {audit.jvm_bytes_max / MB:,.0f} MB")
    for stage, seconds in ours.numbers.items():
        if stage not in planted:
            print(f"    {seconds:>7.1f} s  {stage}")
    print(f"  found: {found}" + ("" if found == planted else f", BUT PLANTED WAS {planted}"))
    print(flush=True)
    return found == planted


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
