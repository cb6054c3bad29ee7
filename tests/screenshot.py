"""`make screenshot`: the picture in the README, of a demo in the simulator, at a moment when something was broken."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from controller import cli
from tests.browser import Browser

MOMENT = "const s = document.getElementById('moment'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"


def main(picture: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        status = cli.run(["campaign", "run", "demo", "--runtime", "sim"])
        report = Path("runs/latest/report.html").resolve()
        os.chdir(before)
        if status:
            return status
        with Browser() as browser:
            browser.open(report, 1280)
            browser.run(MOMENT, 30)
            picture.write_bytes(browser.picture())
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).absolute()))
