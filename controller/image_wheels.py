"""Fetches the wheels that go into the node's image, for the image's Python and not the host's.

A container has no package index to ask, so the wheels are fetched here. Each is checked against its pinned hash here
and once more when the image installs it.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from controller.errors import EnvironmentProblem

_OLDEST_GLIBC_MINOR = 17


class Target(NamedTuple):
    """The Python that will import the wheels."""

    python: str
    machine: str
    glibc_minor: int

    @classmethod
    def parse(cls, facts: str) -> Target:
        """Reads what PROBE printed: `3.11 x86_64 glibc 2.36`."""
        found = re.fullmatch(r"(3\.\d+) (\w+) glibc 2\.(\d+)", facts.strip())
        if found is None:
            raise EnvironmentProblem(
                f"the base image's Python answered {facts.strip()!r}: it must be Python 3.11 or later on glibc"
            )
        python, machine, glibc_minor = found.groups()
        if int(python.partition(".")[2]) < 11:
            raise EnvironmentProblem(f"the base image has Python {python}: it must be 3.11 or later")
        return cls(python, machine, int(glibc_minor))

    def platforms(self) -> list[str]:
        newest_first = range(self.glibc_minor, _OLDEST_GLIBC_MINOR - 1, -1)
        return [f"manylinux_2_{minor}_{self.machine}" for minor in newest_first] + [f"manylinux2014_{self.machine}"]


PROBE = "import platform, sys; print('%d.%d' % sys.version_info[:2], platform.machine(), *platform.libc_ver())"


def fetch(requirements: Path, target: Target, cache: Path) -> Path:
    """A folder with one wheel for each requirement; fetched once for the same requirements and Python."""
    inputs = repr((requirements.read_text(), tuple(target)))
    folder = cache / f"{requirements.stem}-{hashlib.sha256(inputs.encode()).hexdigest()[:12]}"
    if folder.is_dir():
        return folder
    # Renamed when complete, so that an interrupted download is not taken for a finished one.
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    _download(requirements, target, unfinished)
    unfinished.rename(folder)
    return folder


def _download(requirements: Path, target: Target, folder: Path) -> None:
    platforms = [word for platform in target.platforms() for word in ("--platform", platform)]
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
        "--only-binary", ":all:", "--no-deps", "--require-hashes", "--requirement", str(requirements),
        "--implementation", "cp", "--python-version", target.python, *platforms, "--dest", str(folder),
    ]  # fmt: skip
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        wanted = f"{requirements.name} for Python {target.python} on {target.machine}"
        raise EnvironmentProblem(f"the wheels of {wanted} cannot be fetched: {last}")
