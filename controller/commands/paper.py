"""`brokerlab paper`: the experiments of the papers, repeated."""

from __future__ import annotations

from pathlib import Path

import click

from controller import output, progress

PAGE = Path("runs/paper-xroute.html")


@click.group()
def paper() -> None:
    """Repeat the experiments of the papers."""


@paper.command()
@click.option("--small", is_flag=True, help="A few hundred subscriptions: seconds instead of minutes.")
@click.option("--seed", type=click.IntRange(0, 2**53), default=1, show_default=True)
@click.option(
    "--h-min",
    type=click.IntRange(1, 10),
    default=7,
    show_default=True,
    help="The least height of a pattern; the paper does not say how heights are drawn.",
)
@click.option("--output", "path", type=click.Path(dir_okay=False, path_type=Path), default=PAGE, show_default=True)
@output.format_option
def xroute(small: bool, seed: int, h_min: int, path: Path, format_: str) -> None:
    """XROUTE's figures 6 to 9: routing table sizes for 100 to 50,000 subscriptions, with three protocols."""
    from controller import pages
    from controller.papers import xroute as experiment
    from controller.papers import xroute_page
    from controller.workloads.news.patterns import Settings

    sizes = experiment.SMALL_SIZES if small else experiment.SIZES
    setting = experiment.Setting(seed=seed, sizes=sizes, patterns=Settings(h_min=h_min))
    told_to = progress.for_stderr()
    results = xroute_page.Results(experiment.run(setting, told_to))
    varied = experiment.vary(experiment.variations(setting, min(sizes[-1], experiment.VARIED_SUBSCRIPTIONS)), told_to)
    pages.write(path, xroute_page.page(results, setting, varied))
    if format_ == "json":
        told = [claim._asdict() for claim in xroute_page.claims(results)]
        others = xroute_page.varied_rows(varied)
        output.show_json({"sizes": xroute_page.rows(results), "claims": told, "varied": others, "page": str(path)})
        return
    output.show(xroute_page.rows(results), "table")
    click.echo()
    output.show([claim._asdict() for claim in xroute_page.claims(results)], "table")
    click.echo()
    output.show(xroute_page.varied_rows(varied), "table")
    click.echo(f"page: {path}")
