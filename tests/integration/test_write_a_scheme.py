"""What docs/write-a-scheme.md tells people to do is done here, in a folder of its own and without touching .venv."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.lab import ROOT

TEXT = (ROOT / "docs" / "write-a-scheme.md").read_text()
FILES = {
    name: re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL)[0]
    for name, kind in (("pyproject.toml", "toml"), ("verbatim.py", "python"))
}
INSTALL, LIST, SIM, CONTAINERS = [
    line.removeprefix("$ ") for line in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)[0].splitlines()
]


class Desk:
    """A folder where a person works; what is installed there stays there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.installed = folder / "installed"

    def make_package(self) -> None:
        package = self.folder / "my-scheme"
        package.mkdir()
        for name, text in FILES.items():
            (package / name).write_text(text)

    def type(self, command: str, expect: int = 0) -> str:
        elsewhere = command.replace("--editable", f"--target {self.installed}")
        words = elsewhere.replace(".venv/bin/brokerlab", "-m controller.cli").replace(".venv/bin/pip", "-m pip").split()
        done = subprocess.run(
            [sys.executable, *words],
            check=False,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{self.installed}", "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == expect, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout if expect == 0 else done.stderr


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.make_package()
    made.type(INSTALL)
    return made


def test_it_fits_on_a_screen() -> None:
    assert len(TEXT.splitlines()) <= 75


def test_the_scheme_is_listed_and_passes_in_the_simulator(desk: Desk) -> None:
    assert re.search(r"^verbatim .*self-healing", desk.type(LIST), re.MULTILINE)
    assert "verdict: pass" in desk.type(SIM).splitlines()


def test_it_passes_in_processes_too(desk: Desk) -> None:
    assert "verdict: pass" in desk.type(SIM.replace("sim", "process").replace("verbatim", "verbatim:Verbatim"))


@pytest.mark.docker
def test_containers_without_the_package_are_refused_in_one_line(desk: Desk) -> None:
    told = desk.type(CONTAINERS.partition(" --with")[0], expect=64)
    assert "--with PACKAGE" in told and "Traceback" not in told


@pytest.mark.docker
@pytest.mark.slow
def test_it_passes_in_containers(desk: Desk) -> None:
    assert "verdict: pass" in desk.type(CONTAINERS).splitlines()
    facts = json.loads((desk.folder / "runs" / "latest" / "run.json").read_text())
    assert facts["packages"] == ["./my-scheme"] and facts["command"].endswith("--with ./my-scheme")
