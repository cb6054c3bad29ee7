"""`brokerlab watch` in a terminal: what it shows as the cluster changes, and what it leaves behind."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator

import pytest

from controller import runtimes
from tests.integration.commands import BROKERLAB, Here, traces, unique
from tests.integration.lab import until

ON, OFF = "\x1b[?1049h", "\x1b[?1049l"
SHOW_CURSOR = "\x1b[?25h"


class Terminal:
    """A terminal of that size with one program in it."""

    def __init__(self, here: Here, rows: int, columns: int, *arguments: str) -> None:
        self.keyboard, self._inside = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self._inside)
        environment = {**here.environment, "TERM": "xterm-256color", "PYTHONUTF8": "1"}
        environment.pop("COLUMNS")
        self.child = subprocess.Popen(
            ["setsid", "--ctty", *BROKERLAB, *arguments], cwd=here.directory, env=environment,
            stdin=self._inside, stdout=self._inside, stderr=self._inside,
        )  # fmt: skip
        self.written = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self) -> str:
        while select.select([self.keyboard], [], [], 0)[0]:
            self.written += os.read(self.keyboard, 1 << 16).decode(errors="replace")
        return self.written

    @property
    def picture(self) -> list[str]:
        """What the last drawing left on the screen."""
        last = self.read().rpartition("\x1b[H")[2]
        return [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line).rstrip() for line in last.split("\r\n")]

    def until_shown(self, pattern: str) -> None:
        until(lambda: re.search(pattern, "\n".join(self.picture)), f"{pattern} on {self.picture}", 30)

    def type(self, keys: str) -> None:
        os.write(self.keyboard, keys.encode())

    def status(self) -> int:
        """Once it has ended; it is read meanwhile, or it could not write its last words."""
        until(lambda: self.read() and self.child.poll() is not None, "the program ends", 30)
        self.read()
        return self.child.returncode

    def is_clean(self) -> bool:
        """The other screen and the cursor are back, and the keyboard is as it was."""
        restored = self.read().count(ON) == self.written.count(OFF) == 1 and SHOW_CURSOR in self.written
        return restored and termios.tcgetattr(self._inside) == self.before

    def close(self) -> None:
        self.child.kill()
        self.child.wait()
        os.close(self.keyboard)
        os.close(self._inside)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Here:
    return Here(tmp_path_factory.mktemp("watch"))


@pytest.fixture(scope="module")
def name(here: Here) -> Iterator[str]:
    name = unique("watched")
    here.launch("up", "line-3", "--runtime", "process", "--name", name)
    yield name
    for left in traces(name):
        runtimes.find(left.runtime)(left.name, left.directory, left.nodes).down()


@pytest.mark.parametrize(("how", "status"), [("q", 0), ("\x03", 130), (signal.SIGTERM, 130)])
def test_however_it_is_ended_the_terminal_is_as_before(name: str, here: Here, how: str | int, status: int) -> None:
    watching = Terminal(here, 24, 80, "watch", name)
    try:
        watching.until_shown("3 brokers up")
        if isinstance(how, str):
            watching.type(how)
        else:
            watching.child.send_signal(how)
        assert watching.status() == status
        assert watching.is_clean()
        assert "Traceback" not in watching.read()
    finally:
        watching.close()


def test_a_cluster_is_watched_until_it_is_taken_down(name: str, here: Here) -> None:
    """The last test of the module: it takes the cluster away."""
    watching = Terminal(here, 24, 80, "watch", name, "--every", "0.3")
    try:
        watching.until_shown("3 brokers up · 2 links up")
        until(lambda: len(watching.picture) == 24, "the whole picture has come")
        assert max(map(len, watching.picture)) <= 80
        here.run("fault", "kill", "b2", "--cluster", name)
        watching.until_shown(r"✕  b2 +dead.* kill")
        watching.until_shown("controller +applied kill of b2")
        watching.resize(40, 160)
        watching.until_shown(r"✕  b2 +dead.* ✕  b1-b2 +b2 is dead")
        here.run("fault", "restart", "b2", "--cluster", name)
        watching.until_shown("b2 +is back, incarnation 2")
        here.run("down", name)
        assert watching.status() == 0
        assert f"cluster {name} was taken down at" in watching.read().rpartition(OFF)[2]
        assert watching.is_clean()
    finally:
        watching.close()
