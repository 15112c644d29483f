"""Which packs a wheel carries. setup.py runs this file by itself, before there is a package."""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from pathlib import Path

_LINUX = re.compile(r"(?:manylinux2014|manylinux_\d+_\d+|musllinux_\d+_\d+)_(x86_64|aarch64)")
_OTHERS = {"macosx_11_0_arm64": "macos", "win_amd64": "windows"}


def architecture(platforms: str) -> str:
    """The machine of a wheel's platforms, which are joined by dots; ValueError where there is not one.

    Linux's by its own name, others by their system's.
    """
    if platforms in _OTHERS:
        return _OTHERS[platforms]
    found = [_LINUX.fullmatch(platform) for platform in platforms.split(".")]
    machines = {match[1] for match in found if match}
    if None in found or len(machines) != 1:
        raise ValueError(
            "NUMLITE_WHEEL: must be platforms of Linux on one machine, x86_64 or aarch64 "
            f"(manylinux2014_aarch64, say), or one of {', '.join(_OTHERS)}, got {platforms!r}"
        )
    return machines.pop()


def wheel_files(platforms: str, folder: Path) -> dict[str, bytes]:
    """What a wheel has beside the sources: packs, and the index that tells of them only.

    folder is where `python -m numlite.packs build` put them. ValueError where one is missing or another.
    """
    arch = architecture(platforms)
    system = f"--system {arch} " if arch in _OTHERS.values() else ""
    folder = folder / arch if system else folder
    path = folder / "index.json"
    index = json.loads(path.read_text()) if path.exists() else {"packs": {}, "wheels": {}}
    wanted = index["wheels"].get(arch, [])
    missing = [name for name in wanted if name not in index["packs"]]
    if missing or not wanted:
        there = ", ".join(index["packs"]) or "none"
        raise ValueError(
            f"NUMLITE_WHEEL: {folder} must have all packs for {arch}, got {there}: "
            f"{' '.join([f'python -m numlite.packs build {system}'.rstrip(), *missing])}"
        )
    index["packs"] = {name: index["packs"][name] for name in wanted}
    files = {f"{name}.pack": (folder / f"{name}.pack").read_bytes() for name in wanted}
    for name, facts in index["packs"].items():
        if blake2b(files[f"{name}.pack"], digest_size=32).hexdigest() != facts["blake2b"]:
            raise ValueError(
                f"NUMLITE_WHEEL: {name}.pack must be the one that index.json tells of, got another"
            )
    files["index.json"] = json.dumps(index, indent=1).encode() + b"\n"
    return files


def put_packs(platforms: str, folder: Path, built: Path) -> None:
    """Write wheel_files, of no platforms none, into the folder of packs of the wheel that is being made.

    setuptools keeps that folder: what a wheel for another machine left there is removed.
    """
    files = wheel_files(platforms, folder) if platforms else {}
    for left in [*built.glob("*.pack"), *built.glob("index.json")]:
        left.unlink()
    for name, content in files.items():
        (built / name).write_bytes(content)
