"""What the repository promises about itself."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PINNED = sorted((ROOT / "requirements").glob("*.txt"))
TARGETS = ("help", "setup", "image", "demo", "cluster-up", "cluster-down", "test", "lint", "bench",
           "bench-matching", "bench-sim", "paper-xroute", "papers", "clean")  # fmt: skip


def requirements(path: Path) -> list[str]:
    """One string for each requirement: continuation lines joined, comments dropped."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    return [" ".join(one.split()) for one in "\n".join(lines).replace("\\\n", " ").splitlines() if one.strip()]


def names(path: Path) -> set[str]:
    return {one.partition("==")[0] for one in requirements(path)}


def project() -> dict[str, object]:
    found: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def test_the_pinned_files_are_there() -> None:
    assert [path.name for path in PINNED] == ["all.txt", "build.txt", "node.txt"]


@pytest.mark.parametrize("path", PINNED, ids=lambda path: path.name)
def test_every_requirement_is_one_version_with_hashes(path: Path) -> None:
    shape = re.compile(r"[a-z0-9-]+==[\w.]+( ; [^-]+)?( --hash=sha256:[0-9a-f]{64})+")
    assert requirements(path)
    assert [one for one in requirements(path) if not shape.fullmatch(one)] == []


@pytest.mark.parametrize("path", [*PINNED, *sorted((ROOT / "requirements").glob("*.in"))], ids=lambda path: path.name)
def test_no_requirement_file_says_where_packages_come_from(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"index|find-links|trusted-host|://|@ |\.(org|com|net|io|dev|local|internal)\b", text)
    # Folders of the machine that wrote the file.
    assert not re.search(r"(^|\s)/\w", text)


def test_the_image_installs_what_a_node_needs_and_nothing_else() -> None:
    assert names(ROOT / "requirements/node.txt") == {"pyzmq", "msgspec", "numpy", "structlog"}


def test_nodes_and_controller_agree_on_versions() -> None:
    def versions(path: Path) -> dict[str, str]:
        return {one.split("==")[0]: one.split(" ")[0].split("==")[1] for one in requirements(path)}

    everything = versions(ROOT / "requirements/all.txt")
    for name in ("node.txt", "build.txt"):
        for package, version in versions(ROOT / "requirements" / name).items():
            assert everything[package] == version


def test_every_dependency_is_pinned() -> None:
    found = project()
    extras = found["optional-dependencies"]
    assert isinstance(extras, dict)
    assert isinstance(found["dependencies"], list)
    asked = [*found["dependencies"], *(one for group in extras.values() for one in group)]
    assert {re.split(r"[<>=~\[]", one)[0].lower() for one in asked} <= names(ROOT / "requirements/all.txt")


def test_every_dependency_has_its_reason_beside_it() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    lists = re.findall(r"^(?:dependencies|controller|dev) = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    lines = [line for one in lists for line in one.splitlines()]
    assert len(lists) == 3
    assert [line for line in lines if not re.fullmatch(r'    "[\w.<>=-]+", +# .+', line)] == []


def test_every_ignored_rule_has_its_reason_beside_it() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    lists = re.findall(r'^(?:ignore|"tests/\*\*") = \[\n(.*?)^\]', text, re.MULTILINE | re.DOTALL)
    lines = [line for one in lists for line in one.splitlines()]
    assert len(lists) == 2
    assert [line for line in lines if not re.fullmatch(r'    "[A-Z]+\d*", +# .+', line)] == []


def test_the_version_is_known_in_one_place() -> None:
    from importlib.metadata import version

    from node.version import VERSION

    assert "version" in project()["dynamic"]  # type: ignore[operator]
    assert version("brokerlab") == VERSION
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)


def test_help_is_the_default_and_lists_every_target() -> None:
    told = make("--no-print-directory").stdout
    assert told == make("--no-print-directory", "help").stdout
    assert [target for target in TARGETS if not re.search(rf"^  {target} +\w", told, re.MULTILINE)] == []


def test_an_unknown_runtime_is_answered_with_the_known_ones() -> None:
    done = make("demo", "RUNTIME=podman")
    assert done.returncode != 0
    assert "RUNTIME=podman is unknown: docker, process or sim" in done.stderr


def test_only_the_docker_runtime_needs_the_image() -> None:
    assert "image build" in make("--dry-run", "demo").stdout
    assert "image build" not in make("--dry-run", "demo", "RUNTIME=process").stdout


def test_the_layout_is_the_designs() -> None:
    git = shutil.which("git")
    assert git
    listed = subprocess.run([git, "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.split("/")[0] for line in listed.splitlines()}
    assert top >= {"node", "controller", "images", "topologies", "tests", "Makefile", "pyproject.toml", "LICENSE"}
    beside = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "requirements"}
    assert {name for name in top if not name.startswith(".")} - beside <= {
        "node", "controller", "images", "topologies", "tests", "Makefile", "pyproject.toml", "LICENSE",
    }  # fmt: skip


def test_the_licence_is_apaches() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


def test_what_ci_runs_is_a_program() -> None:
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & 0o111
    assert re.search(r"^make test$", script.read_text(), re.MULTILINE)
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_a_node_that_is_left_running_fails_the_session(tmp_path: Path) -> None:
    """The check of tests/conftest.py, tried on a session that leaves a process behind."""
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (tmp_path / "test_careless.py").write_text(
        "import os, subprocess, sys\n"
        "def test_careless():\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE,\n"
        "                             env={**os.environ, 'BROKERLAB_NODE': 'b1'})\n"
        "    os.environ['KEEP'] = str(os.dup(child.stdin.fileno()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert "1 passed" in done.stdout
    assert "LEFT BEHIND: process" in done.stdout
