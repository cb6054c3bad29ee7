"""What the README tells people to type is typed here."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.integration.lab import ROOT

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)


def commands(block: str) -> list[str]:
    return [line.removeprefix("$ ").split("     #")[0] for line in block.splitlines()]


def script(lines: list[str], background: Path) -> str:
    """One shell, as a person has; what goes to the background is waited for until it says that it listens."""
    told = ["set -euo pipefail"]
    for line in lines:
        if line.endswith("&"):
            told.append(f"{line.removesuffix('&')} >{background}.out 2>{background}.err &")
            told.append(f"until grep -q subscribed {background}.err; do kill -0 $!; sleep 0.1; done")
        else:
            told.append(line)
    return "\n".join([*told, "wait"])


def typed(lines: list[str], background: Path) -> str:
    # A make inside a make must not inherit the outer one's job server.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["bash", "-c", script(lines, background)],
        check=False,
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{lines}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def block_with(command: str) -> list[str]:
    (found,) = [lines for lines in map(commands, BLOCKS) if command in lines]
    return found


def test_every_command_of_the_readme_is_tried_here() -> None:
    first = [commands(block)[0] for block in BLOCKS]
    assert first == ["make demo", "make test", "make cluster-up", "source .venv/bin/activate"]
    assert "make test" in (ROOT / ".ci" / "run").read_text().splitlines()


@pytest.mark.slow
@pytest.mark.docker
def test_make_demo(tmp_path: Path) -> None:
    last = typed(block_with("make demo"), tmp_path / "background").splitlines()[-2:]
    assert last[0] == "verdict: pass"
    assert Path(last[1].removeprefix("report: ")).stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.docker
def test_make_cluster_up_and_what_to_type_then(tmp_path: Path) -> None:
    try:
        typed(block_with("make cluster-up"), tmp_path / "background")
    finally:
        # A command that failed must not leave its cluster to the tests after it.
        subprocess.run(["make", "cluster-down"], check=False, cwd=ROOT, capture_output=True, stdin=subprocess.DEVNULL)
    assert '"content":{"sym":"IBM","price":12}' in (tmp_path / "background.out").read_text()


def test_filters_are_tried_without_a_cluster(tmp_path: Path) -> None:
    told = typed(commands(BLOCKS[-1]), tmp_path / "background").splitlines()
    assert told[:2] == ["yes", "yes"]
    assert any("/a/b/c" in line for line in told[2:]), "the branch [b] says nothing new"


def test_the_campaign_in_the_readme_is_a_campaign(tmp_path: Path) -> None:
    from controller.campaigns import model

    (text,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    path = tmp_path / "campaign.yaml"
    path.write_text(text)
    assert len(model.runs(model.load(str(path)))) == 9
