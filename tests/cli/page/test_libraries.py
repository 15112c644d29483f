"""Where the libraries of pages come from: the wheel, the cache, npm; never unchecked."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest
from numlite.cli.page import libraries
from numlite.cli.page.libraries import LibraryError, Package, ship, texts


def tarball(script: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, text in (("package/lib.js", script), ("package/LICENSE", "Free.")):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return file.getvalue()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What npm brings of the one package that there is; numlite has no other, and none is shipped."""
    content = tarball("let lib = 1;")
    path = tmp_path / "some-lib-1.2.tgz"
    path.write_bytes(content)
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\n[ "$1 $2 $4" = "pack @some/lib@1.2 --pack-destination" ] && cp {path} "$5"\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent), prepend=os.pathsep)
    digest = base64.b64encode(hashlib.sha512(content).digest()).decode()
    package = Package("@some/lib", "1.2", digest, "package/lib.js", "package/LICENSE")
    monkeypatch.setattr(libraries, "PACKAGES", (package,))
    monkeypatch.setattr(libraries, "SHIPPED", tmp_path / "shipped")
    return path


def test_a_library_is_fetched_once(registry: Path, tmp_path: Path) -> None:
    [(package, script, license)] = texts(tmp_path / "cache")
    assert (package.name, script, license) == ("@some/lib", "let lib = 1;", "Free.")
    registry.unlink()
    assert texts(tmp_path / "cache")[0][1] == script


def test_what_is_in_the_cache_is_checked(registry: Path, tmp_path: Path) -> None:
    texts(tmp_path / "cache")
    [kept] = (tmp_path / "cache").iterdir()
    kept.write_bytes(tarball("stolen()"))
    assert texts(tmp_path / "cache")[0][1] == "let lib = 1;"


def test_another_tarball_is_refused(registry: Path, tmp_path: Path) -> None:
    registry.write_bytes(tarball("stolen()"))
    with pytest.raises(LibraryError, match=r"@some/lib 1\.2: the tarball's sha512 must be .*, got "):
        texts(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_npm_that_fails_and_no_npm(registry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.unlink()
    with pytest.raises(LibraryError, match=r"@some/lib 1\.2: npm must bring it once, got .*exit status 1"):
        texts(tmp_path / "cache")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LibraryError, match=r"npm must bring it once, got .*No such file"):
        texts(tmp_path / "cache")


def test_what_is_shipped_needs_no_registry(registry: Path, tmp_path: Path) -> None:
    ship(tmp_path / "shipped")
    registry.unlink()
    assert texts(tmp_path / "none")[0][1:] == ("let lib = 1;", "Free.")
    ship(tmp_path / "again")
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == [
        "lib-1.2.js",
        "lib-1.2.js.LICENSE",
    ]


def test_the_pinned_packages() -> None:
    assert [package.name for package in libraries.PACKAGES] == ["d3", "@dagrejs/dagre"]
    for package in libraries.PACKAGES:
        assert len(base64.b64decode(package.integrity)) == 64
