"""Sections put together to one page; a page is written in one step, never half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from controller.audit.report.page import TEMPLATES as REPORT_TEMPLATES
from controller.audit.report.svg import element
from controller.text import clean

TEMPLATES = Path(__file__).parent / "templates"
PARAGRAPH_LIMIT = 4000

Block = Markup | str


@dataclass(frozen=True)
class Section:
    title: str
    blocks: Sequence[Block]


def page(title: str, sections: Sequence[Section], lead: Sequence[Block] = (), name: str = "", foot: str = "") -> str:
    """`lead` stands below the title, `name` small at the top, `foot` small at the end."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(
        title=clean(title),
        name=clean(name),
        foot=clean(foot, PARAGRAPH_LIMIT),
        lead=[_shown(block) for block in lead],
        sections=[Section(clean(one.title), [_shown(block) for block in one.blocks]) for one in sections],
        style=(REPORT_TEMPLATES / "report.css").read_text("utf-8") + (TEMPLATES / "page.css").read_text("utf-8"),
    )


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(text.encode("utf-8", errors="replace"))
    unfinished.replace(path)
    return path


def _shown(block: Block) -> Markup:
    return block if isinstance(block, Markup) else element("p", clean(block, PARAGRAPH_LIMIT))
