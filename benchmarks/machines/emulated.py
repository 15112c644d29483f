"""An aarch64 Linux with Python and NumPy, run on an x86-64 Debian by qemu's user mode.

Debian's packages come through an apt folder of their own and are unpacked, not installed; wheels come by
pip. All of it is kept in ~/.cache/numlite-machines: some 300 MB, a minute to fetch.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = Path.home() / ".cache" / "numlite-machines"
PYTHON = "3.11"  # of Debian 12

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# The C library, Python, and what NumPy and LiteRT load.
_GUEST = (
    "libc6 libgcc-s1 libstdc++6 zlib1g libssl3 libffi8 libbz2-1.0 liblzma5 libexpat1 libuuid1 libcrypt1 "
    f"python{PYTHON}-minimal libpython{PYTHON}-minimal libpython{PYTHON}-stdlib"
)
# Debian 13's emulator is one static file that shows the guest a right /proc/cpuinfo. It cannot load plugins,
# as Debian 12's can, which needs libraries beside those that every Debian has.
_EMULATOR, _COUNTING_EMULATOR = "qemu-user", "qemu-user libcapstone4 liburing2"
_PLATFORMS = [f"manylinux_2_{minor}_aarch64" for minor in (17, 26, 27, 28, 34)] + ["manylinux2014_aarch64"]
# What `pip install numlite` brings, what corpora's types need, and LiteRT.
_SITES = {
    "runtime": "numpy flatbuffers",
    "types": "ml_dtypes",
    "litert": "ai-edge-litert==2.3.0 backports.strenum tqdm typing_extensions",
}


class UnavailableError(Exception):
    """What the emulated machine is made of cannot be had here; the message says what, and why."""


class Emulated:
    """An aarch64 Linux in a folder. Programs that run in it see this machine's files, too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, cpu: str, arguments: Sequence[str], emulator: Sequence[str] = ()) -> list[str]:
        """The command that runs its Python on a processor of qemu's names; emulator: another one."""
        guest = self.folder / "root"
        emulator = emulator or [str(self.folder / "qemu-aarch64")]
        python = str(guest / "usr" / "bin" / f"python{PYTHON}")
        return [*emulator, "-L", str(guest), "-cpu", cpu, python, *arguments]

    def environment(self, *sites: str, **variables: str) -> dict[str, str]:
        """Variables for such a command: of wheels, those named here; numlite is this checkout."""
        paths = [_importable(self.folder), *(str(self.folder / "sites" / site) for site in sites)]
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("NUMLITE", "PYTHON"))
        }
        own = {"PYTHONPATH": os.pathsep.join(paths), "NUMLITE_CACHE_DIR": str(self.folder / "cache")}
        # Bytecode is kept, else each start compiles what it imports, which takes two thirds of it.
        own |= {"PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"), "NUMLITE_PREPARED": "off"}
        return kept | own | variables


def emulated() -> Emulated:
    """The machine, made when it is asked for first. UnavailableError where that cannot be."""
    return Emulated(_made("linux", _make_guest))


def counting_emulator() -> list[str]:
    """The command of an emulator that counts the guest's instructions: see instructions.c.

    UnavailableError where that cannot be made.
    """
    source = Path(__file__).with_name("instructions.c")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    folder = _made(f"counting-{digest}", lambda made: _make_counter(made, source))
    libraries = folder / "root" / "usr" / "lib" / "x86_64-linux-gnu"
    emulator = str(folder / "root" / "usr" / "bin" / "qemu-aarch64")
    return ["env", f"LD_LIBRARY_PATH={libraries}", emulator, "-plugin", str(folder / "count.so")]


def _made(name: str, make: Callable[[Path], None]) -> Path:
    """A folder of the cache, whole or not there."""
    folder = FOLDER / name
    if not folder.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        begun = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=FOLDER))
        try:
            make(begun)
            begun.rename(folder)
        except OSError as error:
            if not folder.exists():  # else another process made it meanwhile
                raise UnavailableError(f"the emulated machine: {error}") from error
        finally:
            shutil.rmtree(begun, ignore_errors=True)
    return folder


def _make_guest(folder: Path) -> None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise UnavailableError("the emulated machine: is made for Linux on x86-64")
    for site, packages in _SITES.items():
        _unpack_wheels(packages.split(), folder / "sites" / site)
    _unpack_debian("trixie", "amd64", _EMULATOR.split(), folder / "emulator")
    shutil.move(folder / "emulator" / "usr" / "bin" / "qemu-aarch64", folder / "qemu-aarch64")
    shutil.rmtree(folder / "emulator")
    _unpack_debian("bookworm", "arm64", _GUEST.split(), folder / "root")
    loader = folder / "root" / "lib" / "ld-linux-aarch64.so.1"
    if not loader.is_symlink():
        loader.symlink_to("aarch64-linux-gnu/ld-linux-aarch64.so.1")


def _make_counter(folder: Path, source: Path) -> None:
    _unpack_debian("bookworm", "amd64", _COUNTING_EMULATOR.split(), folder / "root")
    _run(["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(folder / "count.so")])


def _unpack_debian(suite: str, architecture: str, packages: Sequence[str], to: Path) -> None:
    """Packages of a suite, through an apt folder that knows nothing of this machine's packages."""
    mirror = debian_mirror(_apt_sources())
    if not mirror or not _KEYRING.exists():
        raise UnavailableError("the emulated machine: its packages are Debian's, for which apt has no source")
    with tempfile.TemporaryDirectory() as made:
        apt = Path(made)
        for name in ("lists/partial", "archives/partial", "etc"):
            (apt / name).mkdir(parents=True)
        (apt / "status").touch()
        (apt / "etc" / "sources.list").write_text(f"deb [signed-by={_KEYRING}] {mirror} {suite} main\n")
        (apt / "apt.conf").write_text(_apt_settings(apt, architecture))
        settings = os.environ | {"APT_CONFIG": str(apt / "apt.conf")}
        _run(["apt-get", "update", "-qq"], env=settings)
        _run(["apt-get", "download", "-qq", *packages], env=settings, cwd=apt / "archives")
        for package in sorted((apt / "archives").glob("*.deb")):
            _run(["dpkg", "-x", str(package), str(to)])


def _apt_settings(apt: Path, architecture: str) -> str:
    return f"""
        APT::Architecture "{architecture}"; APT::Architectures {{ "{architecture}"; }};
        APT::Sandbox::User "root";
        Dir::Etc::sourcelist "{apt}/etc/sources.list"; Dir::Etc::sourceparts "/dev/null";
        Dir::Etc::preferencesparts "/dev/null"; Dir::Cache "{apt}";
        Dir::State "{apt}"; Dir::State::lists "{apt}/lists"; Dir::State::status "{apt}/status";
        Acquire::Languages "none"; Acquire::Retries "2";
    """


def _apt_sources() -> Iterable[str]:
    files = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*.sources"))]
    files += sorted(Path("/etc/apt/sources.list.d").glob("*.list"))
    return [file.read_text() for file in files if file.is_file()]


def debian_mirror(sources: Iterable[str]) -> str:
    """The first archive of Debian's that apt's sources name, in either of their forms; else nothing."""
    for text in sources:
        for line in text.splitlines():
            found = re.match(r"\s*(?:deb\s+(?:\[[^\]]*\]\s+)?|URIs:\s*)(https?://\S+/debian)/?(?:\s|$)", line)
            if found:
                return found[1]
    return ""


def _unpack_wheels(packages: Sequence[str], to: Path) -> None:
    with tempfile.TemporaryDirectory() as wheels:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary=:all:",
            "-d",
            wheels,
        ]
        command += ["--implementation", "cp", "--python-version", PYTHON, "--disable-pip-version-check"]
        for abi in (f"cp{PYTHON.replace('.', '')}", "abi3", "none"):
            command += ["--abi", abi]
        for name in [*_PLATFORMS, "any"]:
            command += ["--platform", name]
        _run([*command, *packages])
        for wheel in sorted(Path(wheels).glob("*.whl")):
            shutil.unpack_archive(wheel, to, "zip")


def _importable(folder: Path) -> str:
    """A folder where this checkout is called numlite, whatever its own name."""
    named = folder / "checkouts" / hashlib.sha256(str(REPOSITORY).encode()).hexdigest()[:12]
    named.mkdir(parents=True, exist_ok=True)
    link = named / "numlite"
    if not link.is_symlink():
        link.symlink_to(REPOSITORY)
    return str(named)


def _run(command: Sequence[str], env: dict[str, str] | None = None, cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(
            command, env=env, cwd=cwd, capture_output=True, text=True, timeout=600, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"the emulated machine: {error}") from error
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UnavailableError(f"the emulated machine: {' '.join(command[:3])} failed: {said}")
