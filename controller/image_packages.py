"""Packages of other people in the node's image: a folder or a wheel on this machine, or a name that pip knows.

They are built and fetched here, as the node's own wheels are: a container has no package index to ask.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from email.parser import HeaderParser
from pathlib import Path

from controller.errors import EnvironmentProblem, UsageError
from controller.image_wheels import Target

FOLDER = "packages"
NAMED = f"{FOLDER}/named.txt"
_LEFT_OUT = {"__pycache__", "build", "dist", ".venv"}
_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])?\s*([<>=!~]=?.*)?")
_PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


def read_inputs(packages: Sequence[str]) -> dict[str, bytes]:
    """What the packages are made of, to be told from other versions of the same; nothing is built yet."""
    inputs: dict[str, bytes] = {}
    named = []
    for number, package in enumerate(packages):
        path = Path(package)
        # An empty text would be the working directory.
        if package and path.is_dir():
            inputs.update(_read_folder(path, f"{FOLDER}/{number}"))
        elif path.suffix == ".whl" and path.is_file():
            inputs[f"{FOLDER}/{number}/{path.name}"] = path.read_bytes()
        elif "/" not in package and _REQUIREMENT.fullmatch(package):
            named.append(package)
        else:
            raise UsageError(
                f"--with {package}: neither a folder with a pyproject.toml, nor a wheel, nor a package's name"
            )
    return {**inputs, NAMED: "".join(f"{one}\n" for one in named).encode()} if named else inputs


def _read_folder(folder: Path, under: str) -> dict[str, bytes]:
    if not (folder / "pyproject.toml").is_file():
        raise UsageError(f"--with {folder}: there is no pyproject.toml in it; docs/write-a-scheme.md shows one")
    files = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {f"{under}/{name.as_posix()}": path.read_bytes() for name, path in files.items() if not _is_left_out(name)}


def _is_left_out(path: Path) -> bool:
    """What tools leave behind: it is made anew, and must not make a new image of the same sources."""
    return any(part in _LEFT_OUT or part.endswith(".egg-info") or part.startswith(".git") for part in path.parts)


def gather(context: Path, target: Target, pinned: Mapping[str, str], wheels: Path) -> None:
    """Puts the wheels of everything below `context`/packages into `wheels`, with what they need beyond `pinned`."""
    wheels.mkdir()
    folder = context / FOLDER
    for one in sorted(folder.glob("[0-9]*"), key=lambda path: int(path.name)):
        ready = list(one.glob("*.whl"))
        for wheel in ready or [_built(one)]:
            shutil.copy(wheel, wheels)
    named = context / NAMED
    wanted = named.read_text().splitlines() if named.is_file() else []
    wanted += [need for wheel in sorted(wheels.glob("*.whl")) for need in _needs(wheel)]
    if wanted:
        _download(wanted, target, pinned, wheels)
    for wheel in wheels.glob("*.whl"):
        # The node's own are in the image already, in the version that it was tested with.
        if _normal(wheel.name.partition("-")[0]) in pinned:
            wheel.unlink()


def pins(requirements: str) -> dict[str, str]:
    return {_normal(name): version for name, version in _PIN.findall(requirements)}


def _built(folder: Path) -> Path:
    made = folder / "dist"
    # Without isolation: the tools that built brokerlab are there, an index to fetch others from may not be.
    _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(made), str(folder), what=f"{_title(folder)}")
    return next(made.glob("*.whl"))


def _title(folder: Path) -> str:
    found = re.search(r'^name\s*=\s*"([^"]+)"', (folder / "pyproject.toml").read_text(errors="replace"), re.MULTILINE)
    return f"the package {found[1]}" if found else "the package"


def _needs(wheel: Path) -> list[str]:
    """`brokerlab` itself is what loads the package: nobody has to fetch it."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        told = HeaderParser().parsestr(archive.read(name).decode()).get_all("Requires-Dist") or []
    return [need for need in told if _normal(re.split(r"[^\w.-]", need, maxsplit=1)[0]) != "brokerlab"]


def _download(wanted: list[str], target: Target, pinned: Mapping[str, str], wheels: Path) -> None:
    platforms = [word for platform in target.platforms() for word in ("--platform", platform)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.writelines(f"{name}=={version}\n" for name, version in pinned.items())
        constraints.flush()
        _pip(
            "download", "--only-binary", ":all:", "--implementation", "cp", "--python-version", target.python,
            *platforms, "--constraint", constraints.name, "--dest", str(wheels), *wanted, what=", ".join(wanted),
        )  # fmt: skip


def _pip(*arguments: str, what: str) -> None:
    command = [sys.executable, "-m", "pip", arguments[0], "--quiet", "--disable-pip-version-check", "--no-input"]
    done = subprocess.run(
        [*command, *arguments[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = [line.strip() for line in done.stderr.splitlines() if "rror" in line] or ["pip said nothing"]
        told = " / ".join(dict.fromkeys(said[-2:]))
        raise EnvironmentProblem(f"pip {arguments[0]} failed for {what}, so it cannot be put into the image: {told}")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
