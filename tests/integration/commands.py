"""The command `brokerlab` as a person types it, in a directory of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from controller import cli, runtimes
from tests.integration.lab import ROOT, until

BROKERLAB = [sys.executable, "-m", "controller.cli"]
WITHIN_S = 180


class Done(NamedTuple):
    status: int
    stdout: str
    stderr: str


class Here:
    """A working directory, and commands typed there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}

    def run(self, *arguments: str, expect: int = 0) -> Done:
        """In this process, which saves half a second of imports each time."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.directory), redirect_stdout(out), redirect_stderr(err):
            status = cli.run(arguments)
        done = Done(status, out.getvalue(), err.getvalue())
        assert status == expect, f"{arguments}: {done}"
        return done

    def launch(self, *arguments: str, expect: int = 0) -> Done:
        """In a process of its own, for what must outlive it."""
        with self.started(*arguments) as child:
            out, err = child.communicate(timeout=WITHIN_S)
        assert child.returncode == expect, f"{arguments}: {child.returncode}\n{out}\n{err}"
        return Done(child.returncode, out, err)

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--format", "json").stdout)

    def complaint(self, *arguments: str, expect: int = 64) -> str:
        """The one line that a wrong use is answered with."""
        done = self.run(*arguments, expect=expect)
        assert done.stdout == ""
        lines = [line for line in done.stderr.splitlines() if line.startswith("brokerlab: ")]
        assert len(lines) == 1, done.stderr
        assert "Traceback" not in done.stderr
        return lines[0]

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        child = subprocess.Popen(
            [*BROKERLAB, *arguments],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield child
        finally:
            child.kill()
            child.communicate()

    def runs(self) -> list[Path]:
        root = self.directory / "runs"
        found = sorted(path for path in root.iterdir() if not path.is_symlink()) if root.exists() else []
        return [path for path in found if not (path / "series.json").exists()]


def unique(prefix: str) -> str:
    """Tests run beside other tests, and beside people."""
    return f"{prefix}-{secrets.token_hex(3)}"


def traces(name_prefix: str) -> list[runtimes.Found]:
    """Whatever of clusters named like this runs or lies about."""
    return [one for one in runtimes.discover() if one.name.startswith(name_prefix)]


def until_line(stream: Any, part: str) -> str:
    """The first line that holds this; fails when the stream ends without it."""
    seen: list[str] = []
    for line in stream:
        seen.append(line)
        if part in line:
            return str(line)
    raise AssertionError(f"{part!r} never came; seen: {''.join(seen)}")


def until_gone(name_prefix: str) -> None:
    until(lambda: not traces(name_prefix), f"nothing of {name_prefix} is left", 20)
