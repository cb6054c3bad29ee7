"""The check that CONTRIBUTING shows, under the test that it shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import controller.audit
from controller.audit.checks import CHECKS
from controller.audit.findings import Check
from tests.audit.judged import Judged
from tests.audit.logs import RunLog

TEXT = (Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text()


def test_its_check_passes_the_test_it_shows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = re.search(r"`controller/audit/checks/late.py`:\n\n```python\n(.*?)```", TEXT, re.DOTALL)
    test = re.search(r"```python\n(def test_a_delivery_after.*?)```", TEXT, re.DOTALL)
    assert check and test
    found: dict[str, object] = {"__name__": "late"}
    exec(check[1], found)
    find = found["find"]
    assert callable(find)
    monkeypatch.setattr(controller.audit, "CHECKS", (*CHECKS, Check("late", find)))
    shown: dict[str, Any] = {"SparkSession": SparkSession, "Path": Path, "Judged": Judged, "RunLog": RunLog}
    exec(test[1], shown)
    shown["test_a_delivery_after_more_than_a_minute_is_late"](spark, tmp_path)
