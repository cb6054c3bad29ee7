"""A base image made from Debian packages, for engines that cannot pull one."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from controller.errors import EnvironmentProblem

if TYPE_CHECKING:
    from docker import DockerClient

    from controller.progress import Progress

REPOSITORY = "brokerlab-base"
LABEL = "brokerlab.image"
_BUILD_WITHIN_S = 600

# libstdc++6 for the ZeroMQ inside pyzmq; media-types because apt would otherwise satisfy Python with Perl.
_PACKAGES = ("python3-minimal", "libpython3-stdlib", "libstdc++6", "media-types")
# The host's mirrors and proxies are its own business, and nothing in a node reads the rest. Perl's modules come with
# the package that merged /usr.
_LEFT_OUT = (
    "etc/apt/apt.conf.d/99mmdebstrap", "etc/apt/sources.list*", "etc/hostname", "etc/resolv.conf",
    "usr/lib/*/libperl.so*", "usr/lib/*/perl", "usr/share/doc", "usr/share/info", "usr/share/locale", "usr/share/man",
    "usr/share/perl", "usr/share/perl5", "var/cache/*", "var/lib/apt/lists/*", "var/log/*",
)  # fmt: skip
_HOOK = 'cd "$1" && rm -rf ' + " ".join(_LEFT_OUT)
_OPTIONS = ("--quiet", "--variant=essential", "--format=tar", f"--include={','.join(_PACKAGES)}",
            f"--customize-hook={_HOOK}")  # fmt: skip
_HOST_APT_SETTINGS = ("Acquire::http", "Acquire::https", "Acquire::Check-Valid-Until", "Acquire::Retries")


class Sources(NamedTuple):
    """The host's own Debian mirrors: one-line entries, and stanzas of the newer format."""

    lines: list[str]
    stanzas: list[str]


def codename() -> str | None:
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME")
    except OSError:
        return None


def tag(release: str) -> str:
    inputs = repr((release, platform.machine(), _OPTIONS))
    return f"{REPOSITORY}:{release}-{hashlib.sha256(inputs.encode()).hexdigest()[:12]}"


def make(client: DockerClient, release: str, progress: Progress) -> str:
    """Packs the release's Python into an image and names it `tag(release)`."""
    _require_mmdebstrap(progress)
    sources = select_sources(_apt_files(), release)
    if not (sources.lines or sources.stanzas):
        raise EnvironmentProblem(f"/etc/apt names no mirror of {release}")
    progress.say(f"making a base image from Debian {release} packages (about a minute, once)")
    with tempfile.TemporaryDirectory(prefix="brokerlab-base-") as folder:
        archive = Path(folder) / "base.tar"
        _mmdebstrap(release, sources, archive)
        repository, _, version = tag(release).partition(":")
        client.api.import_image_from_file(
            str(archive), repository=repository, tag=version, changes=[f"LABEL {LABEL}=base"]
        )
    return tag(release)


def select_sources(files: Mapping[str, str], release: str) -> Sources:
    """Only Debian's own suites: a third party's repository may need keys and has nothing we want."""
    suites = {release + suffix for suffix in ("", "-updates", "-security", "/updates", "-backports")}
    lines, stanzas = [], []
    for name in sorted(files):
        if name.endswith(".sources"):
            stanzas += [stanza for stanza in _stanzas(files[name]) if _is_wanted_stanza(stanza, suites)]
        else:
            lines += [line for line in map(str.strip, files[name].splitlines()) if _is_wanted_line(line, suites)]
    return Sources(lines, stanzas)


def _is_wanted_line(line: str, suites: set[str]) -> bool:
    before, bracket, after = line.partition("]")
    words = after.split() if bracket else before.split()[1:]
    return line.split()[:1] == ["deb"] and len(words) >= 3 and words[1] in suites and "main" in words[2:]


def _is_wanted_stanza(stanza: str, suites: set[str]) -> bool:
    pairs = (line.partition(":") for line in stanza.splitlines())
    fields = {key.strip().lower(): value.split() for key, _, value in pairs}
    return (
        "deb" in fields.get("types", [])
        and fields.get("enabled", ["yes"]) != ["no"]
        and "main" in fields.get("components", [])
        and bool(fields.get("suites"))
        and set(fields["suites"]) <= suites
    )


def _stanzas(text: str) -> Iterator[str]:
    uncommented = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    yield from (stanza.strip() for stanza in uncommented.split("\n\n") if stanza.strip())


def _apt_files() -> dict[str, str]:
    etc = Path("/etc/apt")
    found = [etc / "sources.list", *etc.glob("sources.list.d/*.list"), *etc.glob("sources.list.d/*.sources")]
    return {str(path): path.read_text() for path in found if path.is_file()}


def _require_mmdebstrap(progress: Progress) -> None:
    if shutil.which("mmdebstrap"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise EnvironmentProblem("mmdebstrap is missing (Debian: apt-get install mmdebstrap)")
    progress.say("installing mmdebstrap")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", "mmdebstrap"]
    for command in (["apt-get", "update", "--quiet"], install):
        _run(command, environment)


def _mmdebstrap(release: str, sources: Sources, archive: Path) -> None:
    folder = archive.parent
    settings = folder / "apt.conf"
    settings.write_text(_host_apt_settings())
    command = ["mmdebstrap", *_OPTIONS, f"--aptopt={settings}", release, str(archive), *sources.lines]
    if sources.stanzas:
        stanzas = folder / "host.sources"
        stanzas.write_text("\n\n".join(sources.stanzas) + "\n")
        command.append(str(stanzas))
    _run(command, {**os.environ, "TMPDIR": str(folder)})


def _host_apt_settings() -> str:
    """mmdebstrap starts from apt's defaults; the host's proxy is still needed to reach the mirrors."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=False).stdout
    return "".join(f"{line}\n" for line in dump.splitlines() if line.startswith(_HOST_APT_SETTINGS))


def _run(command: list[str], environment: Mapping[str, str]) -> None:
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=_BUILD_WITHIN_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise EnvironmentProblem(f"{command[0]} was not done after {_BUILD_WITHIN_S} s") from None
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()] or ["without a word"]
        raise EnvironmentProblem(f"{command[0]} failed: {said[-1].strip()}")
