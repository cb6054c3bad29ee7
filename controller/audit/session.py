"""One Spark session for many audits: quiet, local by default, and without a trace in the working directory."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from controller.errors import EnvironmentProblem

LOCAL_MASTER = "local[2]"
JAVA_VERSION_MIN = 17
_REMOVAL_S_MAX = 5.0
_REMOVAL_RETRY_S = 0.05
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]

_SETTINGS = {
    "spark.app.name": "brokerlab-audit",
    "spark.driver.memory": "2g",
    # Most audits take seconds: the second compiler of the JVM would cost more time than it saves.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
    # Frames that lie apart by message are joined by client and message where they lie.
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
    # Nobody looks at plans, and describing them takes longer than running most of ours.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "1000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# A remote executor has to reach the driver, so only a local master may be tied to the loopback address.
_LOCAL_SETTINGS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
_LOCAL_ENVIRONMENT = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "localhost"}

_LOG4J = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n%ex
"""

# Compiled plans pay on big tables; on small ones they are nearly all of the work.
_SMALL_BYTES_MAX = 8 * 2**20
_TUNING_SMALL = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Adaptive plans forget how the frames they are kept in lie apart, so these would be shuffled again for every check.
_TUNING_LARGE = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}

_open: list[SparkSession] = []


@contextmanager
def session(spark_master: str | None = None) -> Iterator[SparkSession]:
    """Opens Spark, or joins the session that is open already."""
    if _open:
        yield _open[0]
        return
    require_java()
    scratch = Path(tempfile.mkdtemp(prefix="brokerlab-spark-"))
    try:
        spark = _start(spark_master or LOCAL_MASTER, scratch)
        _open.append(spark)
        try:
            yield spark
        finally:
            _open.remove(spark)
            spark.stop()
    finally:
        _remove(scratch)


def _remove(scratch: Path) -> None:
    """The JVM outlives the session and may still be deleting its own files there, so one attempt can fail."""
    give_up_s = time.monotonic() + _REMOVAL_S_MAX
    while scratch.exists() and time.monotonic() < give_up_s:
        shutil.rmtree(scratch, ignore_errors=True)
        time.sleep(_REMOVAL_RETRY_S)


def tune(spark: SparkSession, log_bytes: int) -> None:
    for name, value in (_TUNING_SMALL if log_bytes <= _SMALL_BYTES_MAX else _TUNING_LARGE).items():
        spark.conf.set(name, value)


def require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    wanted = f"the audit needs Java {JAVA_VERSION_MIN} or newer (a JRE is enough; set JAVA_HOME or PATH)"
    if java is None:
        raise EnvironmentProblem(f"no java found: {wanted}")
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise EnvironmentProblem(f"{java} does not run ({problem}): {wanted}") from problem
    major = _major_version(answer.stderr + answer.stdout)
    if answer.returncode != 0 or major is None:
        raise EnvironmentProblem(f"{java} -version gives no version: {wanted}")
    if major < JAVA_VERSION_MIN:
        raise EnvironmentProblem(f"{java} is Java {major}: {wanted}")


def _major_version(text: str) -> int | None:
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def _start(master: str, scratch: Path) -> SparkSession:
    conf_dir = scratch / "conf"
    conf_dir.mkdir()
    (conf_dir / "log4j2.properties").write_text(_LOG4J)
    stderr = scratch / "stderr"
    # The JVM prints warnings of its own before any logging is configured; they are nothing a user can act upon.
    (conf_dir / "spark-env.sh").write_text(f'exec 2>>"{stderr}"\n')
    # The audit hands Arrow tables to nobody but itself, never a pandas frame.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    local = master.startswith("local")
    os.environ["SPARK_CONF_DIR"] = str(conf_dir)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if local:
        os.environ.update(_LOCAL_ENVIRONMENT)
    settings = {
        **_SETTINGS,
        **(_LOCAL_SETTINGS if local else {}),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.local.dir": str(scratch / "local"),
        "spark.executorEnv.PYTHONPATH": str(_PACKAGE_ROOT),
    }
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    # Py4J raises its own errors for what goes wrong inside the JVM and RuntimeError when the JVM does not come up.
    except (PySparkException, RuntimeError, OSError, Py4JError) as problem:
        raise EnvironmentProblem(f"Spark does not start on {master!r}: {_last_line(stderr) or problem}") from problem
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _last_line(stderr: Path) -> str:
    lines = stderr.read_text(errors="replace").split("\n") if stderr.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
