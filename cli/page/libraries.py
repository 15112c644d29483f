"""The libraries that draw pages, each a file of its pinned npm package: d3 and dagre.

They are no part of the repository. `setup.py` puts them into wheels and sdists; a checkout fetches them into
the user's cache when they are first used. Only the standard library is imported: `setup.py` runs this file.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple


class Package(NamedTuple):
    """An npm package: its tarball by name and version, npm's checksum of it, and what is taken of it."""

    name: str
    version: str
    integrity: str  # of the tarball: sha512, in base64
    script: str
    license: str

    @property
    def file(self) -> str:
        """What the script is called here; the text of its license lies beside it."""
        return f"{self.name.rpartition('/')[2]}-{self.version}.js"


# In the order in which pages run them.
PACKAGES = (
    Package(
        "d3",
        "7.9.0",
        "e1U46jVP+w7Iut8Jt8ri1YsPOvFpg46k+K8TpCb0P+zjCkjkPnV7WzfDJzMHy1LnA+wj5pLT1wjO901gLXeEhA==",
        "package/dist/d3.min.js",
        "package/LICENSE",
    ),
    Package(
        "@dagrejs/dagre",
        "3.1.3",
        "X4aUTwOReZvthaZWOVHqlJ52/ZdhZFEM4+Lh/uR4XooUSLE6p71bcy7MPGzYnNUcNh+nj+i/qJQpCMIdQnSmrg==",
        "package/dist/dagre.min.js",
        "package/LICENSE",
    ),
)
SHIPPED = Path(__file__).parent / "libraries"
_SECONDS = 60


class LibraryError(RuntimeError):
    """A library could not be had."""


def texts(cache: Path) -> list[tuple[Package, str, str]]:
    """Each package with its script and its license: from the installed numlite, else from its tarball.

    Tarballs are kept in the cache, and checked each time they are read. Raises LibraryError that says what
    would help.
    """
    found = []
    for package in PACKAGES:
        names = _names(package)
        if all((SHIPPED / name).is_file() for name in names):
            script, license = ((SHIPPED / name).read_bytes() for name in names)
        else:
            script, license = _taken(package, _kept(package, cache))
        found.append((package, script.decode(), license.decode()))
    return found


def shipped() -> bool:
    """Whether this numlite has the libraries in it."""
    return all((SHIPPED / name).is_file() for package in PACKAGES for name in _names(package))


def kept(cache: Path) -> bool:
    """Whether the cache has all tarballs, so that nothing need be fetched."""
    return all(_whole(package, cache) is not None for package in PACKAGES)


def ship(folder: Path) -> None:
    """Put all scripts and licenses into a folder of a wheel or sdist, from npm unless they are here."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        for name, content in zip(_names(package), _here_or_fetched(package), strict=True):
            (folder / name).write_bytes(content)


def _here_or_fetched(package: Package) -> tuple[bytes, bytes]:
    script, license = (SHIPPED / name for name in _names(package))
    if script.is_file() and license.is_file():
        return script.read_bytes(), license.read_bytes()
    return _taken(package, fetched(package))


def _kept(package: Package, cache: Path) -> bytes:
    """The tarball from the cache, where it is brought; LibraryError where that fails."""
    known = _whole(package, cache)
    if known is not None:
        return known
    tarball = fetched(package)
    cache.mkdir(parents=True, exist_ok=True)
    path = _tarball_path(package, cache)
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_bytes(tarball)
    partial.replace(path)
    return tarball


def _tarball_path(package: Package, cache: Path) -> Path:
    return cache / f"{package.file.removesuffix('.js')}.tgz"


def _whole(package: Package, cache: Path) -> bytes | None:
    """The tarball as the cache has it, None where it is not there, or another."""
    path = _tarball_path(package, cache)
    tarball = path.read_bytes() if path.is_file() else b""
    return tarball if _digest(tarball) == package.integrity else None


def fetched(package: Package) -> bytes:
    """The package's tarball, as the user's npm brings it, checked."""
    with TemporaryDirectory() as folder:
        wanted = f"{package.name}@{package.version}"
        command = ["npm", "pack", wanted, "--silent", "--pack-destination", folder]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
            [path] = Path(folder).iterdir()
            tarball = path.read_bytes()
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise LibraryError(
                f"{package.name} {package.version}: npm must bring it once, got {error}; "
                "a wheel that was built where npm does has the libraries"
            ) from error
    if _digest(tarball) != package.integrity:
        raise LibraryError(
            f"{package.name} {package.version}: the tarball's sha512 must be {package.integrity}, "
            f"got {_digest(tarball)}"
        )
    return tarball


def _digest(tarball: bytes) -> str:
    return base64.b64encode(hashlib.sha512(tarball).digest()).decode()


def _taken(package: Package, tarball: bytes) -> tuple[bytes, bytes]:
    with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
        script, license = (archive.extractfile(name) for name in (package.script, package.license))
        assert script is not None and license is not None  # the checksum says so
        return script.read(), license.read()


def _names(package: Package) -> tuple[str, str]:
    return package.file, f"{package.file}.LICENSE"
