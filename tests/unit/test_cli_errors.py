from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from controller import cli

TRIAL = """
import click
from controller.errors import EnvironmentProblem, UsageError

@click.command()
@click.argument("what")
def trial(what):
    if what == "usage":
        raise UsageError("this is wrong;\\n  that is right")
    if what == "machine":
        raise EnvironmentProblem("no engine")
    if what == "interrupt":
        raise KeyboardInterrupt
    if what == "mistake":
        raise ZeroDivisionError("oh")
    if what == "verdict":
        return 2
    if what == "exit":
        click.get_current_context().exit(1)
    click.echo("done")
"""


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trial_commands.py").write_text(TRIAL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "trial_commands", raising=False)
    monkeypatch.setitem(cli.COMMANDS, "trial", ("trial_commands:trial", "Try it."))


@pytest.mark.usefixtures("trial")
@pytest.mark.parametrize(
    ("what", "status", "told"),
    [
        ("usage", 64, "brokerlab: this is wrong; that is right\n"),
        ("machine", 69, "brokerlab: no engine\n"),
        ("interrupt", 130, "\nbrokerlab: interrupted\n"),
        ("verdict", 2, ""),
        ("exit", 1, ""),
        ("nothing", 0, ""),
    ],
)
def test_an_error_is_one_line_and_a_status(
    what: str, status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["trial", what]) == status
    assert capsys.readouterr().err == told


@pytest.mark.usefixtures("trial")
def test_our_own_mistake_is_never_taken_for_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["trial", "mistake"]) == 70
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert told.splitlines()[-1] == "brokerlab: this is a mistake in brokerlab, please report it: ZeroDivisionError: oh"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["topolgy"], "brokerlab: no command `topolgy`; did you mean `topology`? known: "),
        (["topology", "shw"], "brokerlab: No such command 'shw'."),
        (["topology", "show"], "brokerlab: Missing argument 'NAME'. Type `brokerlab topology show --help`"),
        (["topology", "list", "--format", "xml"], "brokerlab: Invalid value for '--format': 'xml' is not one of"),
        (["--nonsense"], "brokerlab: No such option '--nonsense'"),
        (["topology", "show", "tre-13"], "brokerlab: no topology `tre-13`; did you mean `tree-13`?"),
    ],
)
def test_wrong_use_exits_64(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(arguments) == 64
    captured = capsys.readouterr()
    assert captured.err.startswith(told)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_no_arguments_is_wrong_use_answered_with_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 64
    assert "Commands:" in capsys.readouterr().err


def test_a_command_whose_module_is_missing_does_not_break_the_rest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(cli.COMMANDS, "ghost", ("controller.commands.ghost:ghost", "Not there."))
    assert cli.run(["--help"]) == 0
    assert "ghost" not in capsys.readouterr().out
    assert cli.run(["ghost"]) == 64


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from controller.cli import run; run(['--help']);"
        "sys.exit(', '.join({'docker', 'pyspark', 'rich', 'numpy', 'networkx', 'zmq'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "topology" in done.stdout


def test_a_reader_that_stops_reading_is_no_mistake() -> None:
    program = "import sys; from controller.cli import main; sys.argv[1:] = ['topology', 'list']; main()"
    done = subprocess.run(
        ["bash", "-c", 'set -o pipefail; "$0" -c "$1" | true', sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 141)
    assert done.stderr == ""


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from node.version import VERSION

    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"brokerlab {VERSION}\n"


def test_a_package_that_is_none_is_refused_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["image", "build"], ["up", "line-3"], ["campaign", "run", "smoke", "--runtime", "sim"]):
        assert cli.run([*command, "--with", "/not/there"]) == 64
        assert "--with /not/there" in capsys.readouterr().err


def test_the_simulator_is_among_the_runtimes_that_are_offered(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["campaign", "run", "smoke", "--runtime", "simm"]) == 64
    assert "sim" in capsys.readouterr().err.partition("known:")[2]
