from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from controller.audit import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    with session() as opened:
        yield opened
