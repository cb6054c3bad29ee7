from __future__ import annotations

import hashlib
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from docker.errors import APIError, ImageNotFound
from hypothesis import given
from hypothesis import strategies as st

from controller import image, image_base, image_debian, image_wheels
from controller.errors import EnvironmentProblem

BASE = "sha256:base"


class Silent:
    def say(self, text: str) -> None: ...

    @contextmanager
    def bar(self, title: str, total: float | None = None) -> Any:
        yield


class Engine:
    """An engine's images: the references it has, and those that a registry would give it."""

    def __init__(self, *has: str, offers: tuple[str, ...] = ()) -> None:
        self.api = self
        self.has, self.offers = set(has), offers
        self.pulled: list[str] = []

    def inspect_image(self, reference: str) -> dict[str, str]:
        if reference not in self.has:
            raise ImageNotFound(reference)
        return {"Id": f"id of {reference}"}

    def pull(self, repository: str, tag: str, stream: bool, decode: bool) -> Any:
        reference = f"{repository}:{tag}"
        self.pulled.append(reference)
        if reference not in self.offers:
            raise APIError("500", explanation="no such host")
        yield {"status": "Downloading"}
        self.has.add(reference)


def choose(engine: Engine, release: str | None = "bookworm", **environment: str) -> str:
    return image_base.choose(engine, Silent(), environment, lambda: release)  # type: ignore[arg-type]


FILES = st.dictionaries(st.text("abc/\n 0123456789", min_size=1, max_size=8), st.binary(max_size=12), max_size=4)


@given(FILES, FILES)
def test_two_images_share_a_tag_only_if_their_inputs_are_the_same(
    one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    assert (image.tag_of(one, BASE) == image.tag_of(other, BASE)) == (one == other)


def test_another_base_is_another_tag() -> None:
    assert image.tag_of({"a": b"1"}, BASE) != image.tag_of({"a": b"1"}, "sha256:other")


def test_content_that_looks_like_the_next_file_is_not_taken_for_it() -> None:
    assert image.tag_of({"a": b"1\nb 1\n2"}, BASE) != image.tag_of({"a": b"1", "b": b"2"}, BASE)


def test_the_inputs_are_what_goes_into_the_image(tmp_path: Path) -> None:
    for name in (
        "images/Dockerfile", "requirements/node.txt", "requirements/build.txt", "requirements/all.txt",
        "node/__init__.py", "node/core/state.py", "node/core/__pycache__/state.cpython-311.pyc", "controller/cli.py",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert set(image.read_inputs(tmp_path)) == {
        "images/Dockerfile", "requirements/node.txt", "requirements/build.txt",
        "node/__init__.py", "node/core/state.py",
    }  # fmt: skip


def test_a_named_base_wins() -> None:
    engine = Engine("mine:1", image_base.SLIM[0])
    assert choose(engine, BROKERLAB_BASE="mine:1") == "id of mine:1"


def test_a_named_base_is_pulled_if_the_engine_lacks_it() -> None:
    assert choose(Engine(offers=("mine:1",)), BROKERLAB_BASE="mine:1") == "id of mine:1"


def test_a_named_base_that_cannot_be_had_is_not_replaced_by_another() -> None:
    with pytest.raises(EnvironmentProblem, match=r"BROKERLAB_BASE=mine:1: .*no such host"):
        choose(Engine(image_base.SLIM[0]), BROKERLAB_BASE="mine:1")


def test_a_slim_python_that_is_there_is_taken_without_asking_a_registry() -> None:
    engine = Engine(image_base.SLIM[1], image_debian.tag("bookworm"))
    assert choose(engine) == f"id of {image_base.SLIM[1]}"
    assert engine.pulled == []


def test_a_base_made_before_is_taken_without_asking_a_registry() -> None:
    engine = Engine(image_debian.tag("bookworm"))
    assert choose(engine) == f"id of {image_debian.tag('bookworm')}"
    assert engine.pulled == []


def test_a_slim_python_is_pulled_before_one_is_made() -> None:
    assert choose(Engine(offers=image_base.SLIM[:1])) == f"id of {image_base.SLIM[0]}"


def test_without_any_base_the_three_ways_out_are_named_in_one_line() -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        choose(Engine(), release=None)
    line = str(caught.value)
    assert "\n" not in line
    for way in ("BROKERLAB_BASE", f"pull {image_base.SLIM[0]}", "mmdebstrap"):
        assert way in line


def test_a_registry_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_base, "_PULL_SILENCE_S", 0.05)
    monkeypatch.setattr(image_base, "_follow_pull", lambda *_: None)
    with pytest.raises(EnvironmentProblem, match="nothing was heard"):
        choose(Engine(), BROKERLAB_BASE="mine:1")


SOURCES = """\
Types: deb
# a comment
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main

Types: deb
URIs: http://other.example/apt
Suites: bookworm-pgdg
Components: main

Types: deb
Enabled: no
URIs: http://mirror.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://mirror.example/debian
Suites: bookworm
Components: main
"""

LIST = """\
# deb http://mirror.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main contrib
deb http://mirror.example/security bookworm-security main
deb-src http://mirror.example/debian bookworm main
deb http://docker.example/linux bookworm stable
deb http://node.example nodistro main
"""


def test_only_debians_own_suites_are_used() -> None:
    sources = image_debian.select_sources({"/a/debian.sources": SOURCES, "/a/x.list": LIST}, "bookworm")
    assert sources.stanzas == [
        "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\nComponents: main"
    ]
    assert sources.lines == [
        "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main contrib",
        "deb http://mirror.example/security bookworm-security main",
    ]


def test_another_release_finds_none_of_them() -> None:
    assert image_debian.select_sources({"/a/debian.sources": SOURCES, "/a/x.list": LIST}, "trixie") == ([], [])


def test_the_base_is_asked_for_its_python() -> None:
    target = image_wheels.Target.parse("3.11 x86_64 glibc 2.36\n")
    assert target == ("3.11", "x86_64", 36)
    assert target.platforms()[0] == "manylinux_2_36_x86_64"
    assert target.platforms()[-2:] == ["manylinux_2_17_x86_64", "manylinux2014_x86_64"]


@pytest.mark.parametrize("facts", ["3.10 x86_64 glibc 2.36", "3.12 x86_64  ", "", "python3: not found"])
def test_a_base_without_a_fitting_python_is_refused(facts: str) -> None:
    with pytest.raises(EnvironmentProblem, match=r"3\.11 or later"):
        image_wheels.Target.parse(facts)


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One wheel in a folder is all that pip can see."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    with zipfile.ZipFile(shelf / "thing-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("thing.py", "")
        wheel.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        wheel.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("thing-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return shelf


TARGET = image_wheels.Target("3.11", "x86_64", 36)


def test_wheels_are_fetched_once(offline: Path, tmp_path: Path) -> None:
    wheel = offline / "thing-1.0-py3-none-any.whl"
    pinned = tmp_path / "node.txt"
    pinned.write_text(f"thing==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    folder = image_wheels.fetch(pinned, TARGET, tmp_path / "cache")
    assert [path.name for path in folder.iterdir()] == [wheel.name]
    wheel.unlink()
    assert image_wheels.fetch(pinned, TARGET, tmp_path / "cache") == folder


def test_a_wheel_that_is_not_the_pinned_one_is_refused_and_not_kept(offline: Path, tmp_path: Path) -> None:
    pinned = tmp_path / "node.txt"
    pinned.write_text(f"thing==1.0 --hash=sha256:{'0' * 64}\n")
    for _ in range(2):
        with pytest.raises(EnvironmentProblem, match=r"node\.txt for Python 3\.11 on x86_64 cannot be fetched"):
            image_wheels.fetch(pinned, TARGET, tmp_path / "cache")
