"""`runs` lists, `serve` shows; strangers get nothing else."""

from __future__ import annotations

import http.client
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.audit.report import write_report
from controller.campaigns import runs as directory
from controller.campaigns.serving import server
from tests.integration.commands import Here, until_line
from tests.unit import report_runs

NAMES = ["old", "new", "<b>odd"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("here")
    root = base / "runs"
    makers = (report_runs.passing, report_runs.failing, report_runs.undecided)
    for hour, (name, make) in enumerate(zip(NAMES, makers, strict=True)):
        run = make(root / name)
        facts = {**report_runs.run_json(), "started": f"2026-11-18T1{hour}:00:00+00:00", "seed": hour}
        report_runs.write_json(run / "run.json", facts)
        write_report(run)
        (run / "config").mkdir()
        (run / "config" / "client-keys.json").write_text("secret")
    report_runs.write_json(root / "broken" / "run.json", [])
    (root / "no-run").mkdir()
    (root / "latest").symlink_to("old")
    (root / "compare-2-runs.html").write_text("compared")
    (base / "secret.html").write_text("secret")
    (root / "stolen").mkdir()
    (root / "stolen" / "report.html").symlink_to(base / "secret.html")
    return root


@pytest.fixture(scope="module")
def port(root: Path) -> Iterator[int]:
    with server(root, 0) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving.server_address[1]
        serving.shutdown()


def get(port: int, path: str, method: str = "GET", host: str = "127.0.0.1") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers={"Host": host})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_runs_are_listed_newest_first_whatever_lies_between_them(root: Path) -> None:
    found = directory.find(root)
    assert [run.name for run in found] == ["<b>odd", "new", "old", "broken"]
    assert [run.verdict for run in found] == ["unknown", "fail", "pass", directory.UNAUDITED]
    assert (found[0].campaign, found[0].brokers, found[0].duration_ns) == ("demo", 13, 64 * report_runs.S)
    assert found[0].size_bytes == sum(path.stat().st_size for path in (root / "<b>odd").rglob("*") if path.is_file())
    assert directory.find(root / "nowhere") == []


def test_the_command_filters(root: Path) -> None:
    here = Here(root.parent)
    assert [run["name"] for run in here.json("runs")] == ["<b>odd", "new", "old", "broken"]
    assert [run["name"] for run in here.json("runs", "--verdict", "fail")] == ["new"]
    assert [run["name"] for run in here.json("runs", "--seed", "0", "--scheme", "covering-active")] == ["old"]
    assert [run["name"] for run in here.json("runs", "-n", "1")] == ["<b>odd"]
    head, first, *_ = here.run("runs").stdout.splitlines()
    assert head.split() == [
        "verdict", "campaign", "scheme", "runtime", "seed", "brokers", "when", "lasted", "size", "run",
    ]  # fmt: skip
    assert first.split()[:5] == ["unknown", "demo", "covering-active", "docker", "2"]
    assert "none of 4 runs" in here.run("runs", "--campaign", "x").stderr


def test_the_index_leads_to_reports_and_comparisons(port: int) -> None:
    status, page = get(port, "/")
    assert status == 200
    for link in ("/new/report.html", "/old/report.html", "/%3Cb%3Eodd/report.html", "/compare-2-runs.html"):
        assert f'href="{link}"' in page
        assert get(port, link)[0] == 200
    assert "<b>odd" not in page
    assert get(port, "/compare-2-runs.html")[1] == "compared"
    assert get(port, "/new/report.html", "HEAD") == (200, "")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.html", "/%2e%2e/secret.html", "/..%2fsecret.html", "//etc/passwd", "/new/../../secret.html",
        "/new/config/client-keys.json", "/new/run.json", "/latest/report.html", "/stolen/report.html", "/new/",
        "/new/report.html/", "/new%00/report.html", "/broken/report.html", "/%ff",
    ],
)  # fmt: skip
def test_nothing_else_is_given_out(port: int, path: str) -> None:
    status, content = get(port, path)
    assert status == 404
    assert "secret" not in content and "root:" not in content


def test_nothing_is_taken_and_no_other_name_is_answered(port: int) -> None:
    assert get(port, "/", "POST")[0] == 501
    assert get(port, "/", "DELETE")[0] == 501
    assert get(port, "/", host="evil.example")[0] == 403
    assert get(port, "/", host="evil.example:80")[0] == 403


def test_serve_says_where_and_ends_with_ctrl_c(root: Path) -> None:
    here = Here(root.parent)
    with here.started("serve", "--port", "0") as serving:
        told = until_line(serving.stderr, "http://127.0.0.1:")
        assert get(int(told.split(":")[2].split("/")[0]), "/")[0] == 200
        os.kill(serving.pid, signal.SIGINT)
        assert serving.wait(20) == 130


def test_wrong_words_get_one_line(root: Path, port: int) -> None:
    here = Here(root.parent)
    assert "no directory" in here.complaint("serve", "--root", "nowhere")
    assert f"port {port} cannot be used" in here.complaint("serve", "--port", str(port), expect=69)
    assert json.loads(here.run("runs", "--root", "nowhere", "--format", "json").stdout) == []
