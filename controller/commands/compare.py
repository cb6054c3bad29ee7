"""`brokerlab compare`: several runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from controller import output, progress
from controller.campaigns import store
from controller.commands import verdicts
from controller.errors import UsageError

if TYPE_CHECKING:
    from controller.compare import Compared

STATUS = {"pass": 0, "fail": 1, "unknown": 2}


@click.command()
@click.argument("runs", metavar="RUN RUN...", nargs=-1, required=True)
@click.option("--output", "page", type=click.Path(path_type=Path, dir_okay=False), help="Where the page goes.")
@click.option("--spark-master", metavar="ADDRESS", help="A Spark cluster; this machine if left out.")
@output.format_option
def compare(runs: tuple[str, ...], page: Path | None, spark_master: str | None, format_: str) -> int:
    """Put runs side by side, in a table and on a page. Runs that no audit has judged yet are judged first.

    Exit status: 0 every verdict is pass, 1 a property was broken, 2 it could not be told.
    """
    directories = list(dict.fromkeys(store.find_run(run) for run in runs))
    if len(directories) < 2:
        raise UsageError("one run has nothing to be compared with; give two or more different ones")
    unjudged = [run for run in directories if not (run / "audit" / "verdict.json").is_file()]
    if unjudged:
        verdicts.judge(unjudged, spark_master, progress.for_stderr())
    compared, written = write(directories, page)
    _show(compared, written, format_)
    return max((STATUS[one.data.verdict] for one in compared.runs), key=[0, 2, 1].index)


def write(runs: Sequence[Path], page: Path | None = None) -> tuple[Compared, Path]:
    """The page stands beside the runs, named after the first and the last of them."""
    from controller.compare import compare as read
    from controller.compare import write_page

    compared = read(runs)
    path = page or runs[-1].parent / f"compare-{len(runs)}-runs-{runs[0].name}-to-{runs[-1].name}.html"
    return compared, write_page(compared, path)


def _show(compared: Compared, page: Path, format_: str) -> None:
    from controller.compare import MEASURES

    if format_ == "json":
        runs = [
            {"run": str(one.run), **{measure.key: measure.of(one) for measure in MEASURES}, "kinds": one.kinds}
            for one in compared.runs
        ]
        grounds = {"different": compared.different, "untold": compared.untold}
        output.show_json({"runs": runs, **grounds, "page": str(page)})
        return
    rows = [{"": one.title, **{run.label: one.text(run) for run in compared.runs}} for one in MEASURES]
    output.show(rows, "table")
    click.echo(compared.grounds())
    click.echo(f"page: {page}")
