"""The one place that knows the version: the build, the image and every log's first line read it here."""

from __future__ import annotations

VERSION = "0.1.0"
