"""Runs in a browser: an index, and the reports and comparisons it links to; nothing else is given out."""

from __future__ import annotations

from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from markupsafe import Markup

from controller.campaigns import runs
from controller.campaigns.runs import Run
from controller.text import clean, duration, volume

HOST = "127.0.0.1"
SHOWN_MAX = 2000
REPORT = "report.html"


def server(root: Path, port: int) -> ThreadingHTTPServer:
    class Handler(_Handler):
        runs_root = root.resolve()

    return ThreadingHTTPServer((HOST, port), Handler)


def page_at(root: Path, path: str) -> Path | None:
    """The page that an address means: one of those the index links to, by its name, and never through a link."""
    folders = [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]
    known = {f"{folder.name}/{REPORT}" for folder in folders if (folder / REPORT).is_file()}
    known |= {str(page.relative_to(root)) for page in runs.pages(root)}
    wanted = unquote(urlsplit(path).path).removeprefix("/")
    if wanted not in known:
        return None
    page = root / wanted
    return page if page.resolve().is_relative_to(root.resolve()) else None


class _Handler(BaseHTTPRequestHandler):
    runs_root: Path

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, with_body: bool) -> None:
        # Another name for this machine would let a page from elsewhere read the runs.
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if host not in (HOST, "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN, "ask for 127.0.0.1")
            return
        if urlsplit(self.path).path == "/":
            content = index(self.runs_root).encode("utf-8", errors="replace")
        else:
            page = page_at(self.runs_root, self.path)
            if page is None:
                self.send_error(HTTPStatus.NOT_FOUND, "no such report")
                return
            content = page.read_bytes()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Who looked at what is nobody's business."""


def index(root: Path) -> str:
    from controller.audit.report.svg import element
    from controller.audit.report.words import LABELS
    from controller.pages import Section, page, table

    found = runs.find(root)
    header = ["run", "verdict", "campaign", "scheme", "runtime", "seed", "brokers", "lasted", "size"]

    def row(run: Run) -> list[object]:
        name: object = clean(run.name)
        if run.has_report:
            name = element("a", clean(run.name), href=f"/{quote(run.name)}/report.html")
        sort = run.verdict if run.verdict in LABELS else "unaudited"
        verdict = element("span", LABELS.get(run.verdict, clean(run.verdict)), class_=f"chip is-{sort}")
        lasted = None if run.duration_ns is None else duration(run.duration_ns)
        seed = None if run.seed is None else str(run.seed)
        return [name, verdict, run.campaign, run.scheme, run.runtime, seed, run.brokers, lasted, volume(run.size_bytes)]

    rows = [row(run) for run in found[:SHOWN_MAX]]
    blocks: list[Markup | str] = [table(header, rows)] if rows else ["There are none."]
    if len(found) > SHOWN_MAX:
        blocks.append(f"{len(found) - SHOWN_MAX} older runs are not listed.")
    sections = [Section("Runs, the newest first", blocks)]
    compared = [[_link(root, one)] for one in runs.pages(root)]
    if compared:
        sections.append(Section("Comparisons", [table(["page"], compared, words=True)]))
    return page(f"{len(found)} runs", sections, [clean(str(root))])


def _link(root: Path, one: Path) -> Markup:
    from controller.audit.report.svg import element

    name = str(one.relative_to(root))
    return element("a", clean(name), href=f"/{quote(name)}")
