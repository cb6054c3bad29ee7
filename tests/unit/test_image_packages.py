"""Which packages go into the image: what counts as one, what makes it another, and what is gathered for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller import image_packages
from controller.errors import EnvironmentProblem, UsageError
from controller.image_wheels import Target

TARGET = Target("3.11", "x86_64", 36)
PROJECT = """[project]
name = "Odd.Scheme"
version = "1"
dependencies = ["brokerlab>=0", "nobody-has-this-package; python_version < '3'"]

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
py-modules = ["odd"]
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "odd-scheme"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "odd.py").write_text("X = 1\n")
    return folder


def laid_out(inputs: dict[str, bytes], context: Path) -> Path:
    for name, content in inputs.items():
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        (context / name).write_bytes(content)
    return context


def test_an_edit_is_another_input_and_what_tools_leave_behind_is_none(package: Path) -> None:
    before = image_packages.read_inputs([str(package)])
    assert set(before) == {"packages/0/pyproject.toml", "packages/0/odd.py"}
    for left in ("build/lib/odd.py", "Odd.Scheme.egg-info/PKG-INFO", "__pycache__/odd.cpython-311.pyc", ".git/HEAD"):
        (package / left).parent.mkdir(parents=True)
        (package / left).write_text("x")
    assert image_packages.read_inputs([str(package)]) == before
    (package / "odd.py").write_text("X = 2\n")
    assert image_packages.read_inputs([str(package)]) != before


def test_names_and_wheels_are_inputs_too(tmp_path: Path) -> None:
    wheel = tmp_path / "odd-1-py3-none-any.whl"
    wheel.write_bytes(b"zip")
    inputs = image_packages.read_inputs(["odd==1", str(wheel), "even[fast] >= 2"])
    assert inputs == {f"packages/1/{wheel.name}": b"zip", image_packages.NAMED: b"odd==1\neven[fast] >= 2\n"}
    assert image_packages.read_inputs([]) == {}


@pytest.mark.parametrize("nothing", ["./not/there", "gone.whl/x", "", "--index-url=x", "a b"])
def test_what_is_no_package_is_refused(nothing: str) -> None:
    with pytest.raises(UsageError, match="--with"):
        image_packages.read_inputs([nothing])


def test_a_folder_without_a_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no pyproject\.toml"):
        image_packages.read_inputs([str(tmp_path)])


def test_a_folder_becomes_a_wheel_and_its_source_stays_as_it_was(package: Path, tmp_path: Path) -> None:
    before = sorted(path.name for path in package.iterdir())
    context = laid_out(image_packages.read_inputs([str(package)]), tmp_path / "context")
    image_packages.gather(context, TARGET, {"msgspec": "1"}, tmp_path / "wheels")
    assert [path.name for path in (tmp_path / "wheels").iterdir()] == ["odd_scheme-1-py3-none-any.whl"]
    assert sorted(path.name for path in package.iterdir()) == before


def test_what_the_image_holds_already_is_not_gathered_again(tmp_path: Path) -> None:
    wheel = tmp_path / "MsgSpec-9-py3-none-any.whl"
    _empty_wheel(wheel)
    context = laid_out(image_packages.read_inputs([str(wheel)]), tmp_path / "context")
    image_packages.gather(context, TARGET, {"msgspec": "1"}, tmp_path / "wheels")
    assert list((tmp_path / "wheels").iterdir()) == []


def test_a_package_that_cannot_be_built_is_told_in_one_line(package: Path, tmp_path: Path) -> None:
    (package / "pyproject.toml").write_text(PROJECT.replace("setuptools.build_meta", "no_such_backend"))
    context = laid_out(image_packages.read_inputs([str(package)]), tmp_path / "context")
    with pytest.raises(EnvironmentProblem, match=r"pip wheel failed for the package Odd\.Scheme") as told:
        image_packages.gather(context, TARGET, {}, tmp_path / "wheels")
    assert "\n" not in str(told.value)


def test_pins_are_read_from_the_nodes_own_requirements() -> None:
    text = "msgspec==0.19.0 \\\n    --hash=sha256:00\n# via\npyzmq==27.0 \\\n"
    assert image_packages.pins(text) == {"msgspec": "0.19.0", "pyzmq": "27.0"}


def _empty_wheel(path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("MsgSpec-9.dist-info/METADATA", "Metadata-Version: 2.1\nName: MsgSpec\nVersion: 9\n")
