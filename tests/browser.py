"""A headless Chromium, driven over the W3C WebDriver protocol: JSON over HTTP, so no library is needed."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

START_WITHIN_S = 60
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]


class Browser:
    def __init__(self) -> None:
        """Fails where there is no browser: a page that nobody looked at is not tested."""
        driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
        if driver is None or chromium is None:
            raise RuntimeError("no chromium and chromedriver: apt-get install chromium chromium-driver (make does it)")
        self._profile = tempfile.TemporaryDirectory(prefix="brokerlab-browser-")
        command = [driver, "--port=0"]
        self._driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._at = f"http://127.0.0.1:{self._port()}"
        options = {"binary": chromium, "args": [*ARGUMENTS, f"--user-data-dir={self._profile.name}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._at += f"/session/{made['sessionId']}"

    def _port(self) -> int:
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if "started successfully on port" in line:
                return int(line.rsplit(" ", 1)[1].strip().rstrip("."))
        raise RuntimeError("chromedriver ended before it was ready")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self._at + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=START_WITHIN_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def open(self, page: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])
        self._ask("POST", "/url", {"url": page.resolve().as_uri()})

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script: str, *arguments: Any) -> Any:
        """What the script returns."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *keys: str) -> None:
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def complaints(self) -> list[str]:
        """What the console was told since it was asked before."""
        return [entry["message"] for entry in self._ask("POST", "/se/log", {"type": "browser"})]

    def picture(self, whole: bool = True) -> bytes:
        asked = {"format": "png", "captureBeyondViewport": whole, **self._clip(whole)}
        return base64.b64decode(self.devtools("Page.captureScreenshot", **asked)["data"])

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.run("const e = document.documentElement; return [e.clientWidth, e.scrollHeight]")
        return {"clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}}

    def close(self) -> None:
        try:
            self._ask("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait()
            self._profile.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
