"""Wheels with packs: made, looked at, and run where they can be, far from any checkout.

    python .ci/wheels.py [PLATFORMS ...] [--twice] [--keep FOLDER]    # or of all that README.md names

Packs are compiled first, as far as they are not there: some three minutes of one core for a target. --twice
compiles them all again, with nothing kept, and wants the same bytes. Of a wheel the tags, RECORD and each
pack's format are looked at. That for x86-64 runs in an empty environment with what it brings, NumPy and
flatbuffers, that for aarch64 on emulated processors: both give the same outputs, and compile nothing. Those
for other systems are not run. Needs Numba, and ../shared for the model that is run.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from numlite.benchmarks.machines.emulated import UnavailableError, emulated
from numlite.benchmarks.machines.instructions import CPUS, ENGINE
from numlite.kernels.compiled.driver.linker import elf
from numlite.kernels.compiled.driver.pack_builder import PACKED
from numlite.packs.wheel import architecture
from numlite.tests.shared_folder import SHARED

HERE = Path(__file__).resolve().parents[1]
PLATFORMS = (
    *(f"manylinux2014_{arch}.musllinux_1_2_{arch}" for arch in ("x86_64", "aarch64")),
    *("macosx_11_0_arm64", "win_amd64"),
)
SYSTEMS = ("macos", "windows")
MODEL = SHARED / "models" / "mobilenet_v2_1.0_224_int8.tflite"
MOST_BYTES = {"x86_64": 12_000_000, "aarch64": 6_000_000}
# What every C library has, glibc and musl: a pack asks for no library.
IMPORTS = {"bzero", "memcpy", "memmove", "memset"}
# The largest pages that systems have.
PAGES = {"x86_64": 4096, "aarch64": 65536}
# Runs a program, and tells of compilers that it has imported.
RUN = (
    "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__'); "
    "print([name for name in ('numba', 'llvmlite') if name in sys.modules])"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("platforms", nargs="*", default=PLATFORMS, help=f"default: {' '.join(PLATFORMS)}")
    parser.add_argument("--twice", action="store_true", help="compile all packs again, for the same bytes")
    parser.add_argument("--keep", type=Path, help="a folder for the wheels (default: none is kept)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        far = Path(made)
        kept, results = given.keep or far / "dist", set[str]()
        for platforms in given.platforms:
            arch = architecture(platforms)
            build_packs(arch, HERE / "packs" / (arch if arch in SYSTEMS else ""))
            if given.twice:
                compare_packs(arch, far / "again")
            wheel = build_wheel(platforms, kept.resolve(), far)
            look_at(wheel, platforms, arch)
            results |= set(run_wheel(wheel, arch, far))
    assert len(results) <= 1, f"outputs differ between machines: {sorted(results)}"
    return 0


def build_packs(arch: str, folder: Path, **variables: str) -> None:
    system = ["--system", arch] if arch in SYSTEMS else []
    command = [sys.executable, "-m", "numlite.packs", "build", *PACKED[arch], *system, "--out", str(folder)]
    subprocess.run(command, env=os.environ | variables, check=True, stdout=subprocess.DEVNULL)


def compare_packs(arch: str, folder: Path) -> None:
    """All packs of an architecture or system, compiled with an empty cache, must be those that there are."""
    build_packs(arch, folder, NUMLITE_CACHE_DIR=str(folder / "cache"))
    for name in PACKED[arch]:
        first = HERE / "packs" / (arch if arch in SYSTEMS else "") / f"{name}.pack"
        assert first.read_bytes() == (folder / f"{name}.pack").read_bytes(), f"{name}: two builds differ"
        print(f"   {name}.pack {arch}: compiled twice, the same {first.stat().st_size:,} bytes", flush=True)
    shutil.rmtree(folder)


def build_wheel(platforms: str, dist: Path, far: Path) -> Path:
    tools = environment(far / "tools", "build")
    command = [str(tools), "-m", "build", "--wheel", "-o", str(dist), str(HERE)]
    subprocess.run(
        command, env=os.environ | {"NUMLITE_WHEEL": platforms}, check=True, stdout=subprocess.DEVNULL
    )
    (wheel,) = dist.glob(f"numlite-*-py3-none-{platforms}.whl")
    return wheel


def environment(folder: Path, *packages: str) -> Path:
    """The Python of an environment of its own with packages."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
        subprocess.run(command, check=True)
    return python


def look_at(wheel: Path, platforms: str, arch: str) -> None:
    """AssertionError where the wheel is not what its name says, or holds other than what it lists."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    (about,) = (name.removesuffix("/WHEEL") for name in files if name.endswith(".dist-info/WHEEL"))
    lines = files[f"{about}/WHEEL"].decode().splitlines()
    tags = {line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: ")}
    assert tags == {f"py3-none-{platform}" for platform in platforms.split(".")}, tags
    assert "Root-Is-Purelib: false" in lines, lines
    assert listed(files[f"{about}/RECORD"]) == {
        name: (digest(content), str(len(content)))
        for name, content in files.items()
        if name != f"{about}/RECORD"
    }
    packs = {Path(name).stem: content for name, content in files.items() if name.endswith(".pack")}
    assert set(packs) == set(PACKED[arch]), sorted(packs)
    assert set(json.loads(files["numlite/packs/index.json"])["packs"]) == set(packs)
    for name, content in packs.items():
        look_at_pack(name, content, arch)
    others = [name for name in files if name.endswith((".so", ".dylib", ".dll", ".pyd", ".pyc"))]
    assert not others, others
    nbytes = wheel.stat().st_size
    assert nbytes < MOST_BYTES.get(arch, nbytes + 1), f"{wheel.name}: {nbytes:,} bytes"
    installed = sum(map(len, files.values()))
    print(f"{wheel.name}: {nbytes:,} bytes, installed {installed:,}; {len(files)} files", flush=True)
    for name, content in packs.items():
        print(f"   {name}.pack: {len(content):,} bytes", flush=True)


def listed(record: bytes) -> dict[str, tuple[str, str]]:
    """What RECORD says of each file but itself: digest and size."""
    rows = [line.rsplit(",", 2) for line in record.decode().splitlines()]
    return {name.strip('"'): (hashed, size) for name, hashed, size in rows if hashed}


def digest(content: bytes) -> str:
    return f"sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()}"


def look_at_pack(name: str, image: bytes, arch: str) -> None:
    """AssertionError where a pack is of another format or machine, or asks more of its system than it may."""
    if arch == "macos":  # a 64-bit dylib for ARM
        magic, processor, _, kind = struct.unpack_from("<4I", image)
        assert (magic, processor, kind) == (0xFEEDFACF, 0x0100000C, 6), name
    elif arch == "windows":  # a DLL for x86-64
        header = struct.unpack_from("<I", image, 0x3C)[0]
        processor, flags = struct.unpack_from("<H16xH", image, header + 4)
        assert image[:2] == b"MZ" and image[header : header + 4] == b"PE\0\0", name
        assert processor == 0x8664 and flags & 0x2000, name
    else:
        number = {"x86_64": elf.X86_64, "aarch64": elf.AARCH64}[arch]
        assert image.startswith(elf.IDENT) and int.from_bytes(image[18:20], "little") == number, name
        assert elf.DT_NEEDED not in elf.dynamic_entries(image), name
        assert set(imported(image)) <= IMPORTS, (name, sorted(imported(image)))
        for kind, flags, offset, address, _, _, _, alignment in elf.segments(image):
            if kind == elf.PT_LOAD:
                assert alignment >= PAGES[arch] and offset % alignment == address % alignment, name
                assert flags & (elf.PF_WRITE | elf.PF_EXECUTE) != elf.PF_WRITE | elf.PF_EXECUTE, name


def imported(image: bytes) -> Iterator[str]:
    """Symbols that another object must define."""
    entries = elf.dynamic_entries(image)
    count = struct.unpack_from("<I", image, entries[elf.DT_HASH] + 4)[0]
    names = image[entries[elf.DT_STRTAB] :]
    for place in range(1, count):
        name, _, _, section, _, _ = elf.SYMBOL.unpack_from(
            image, entries[elf.DT_SYMTAB] + place * elf.SYMBOL.size
        )
        if section == 0:
            yield elf.text_at(names, name)


def run_wheel(wheel: Path, arch: str, far: Path) -> Iterator[str]:
    """The digests of a model's outputs, one for each processor that the wheel runs on here."""
    if arch in SYSTEMS:
        print("   not run: nothing here loads it", flush=True)
    elif not MODEL.exists():
        print(f"   not run: no {MODEL}", flush=True)
    elif arch == "x86_64":
        python = environment(far / "empty", str(wheel))
        found = output([str(python), "-m", "pip", "list", "--format=freeze"], os.environ)
        packages = {line.split("==")[0].split(" ")[0] for line in found.splitlines()}
        assert packages - {"pip", "setuptools"} == {"numlite", "numpy", "flatbuffers"}, packages
        yield ran([str(python), "-P"], os.environ, far / "nothing", "this machine")
    else:
        site = far / "site"
        shutil.unpack_archive(wheel, site, "zip")
        for cpu in CPUS:
            try:
                machine = emulated()
            except UnavailableError as error:
                print(f"   not run: {error}", flush=True)
                return
            runtime = machine.environment("runtime")
            # The wheel instead of this checkout, which comes first there.
            runtime["PYTHONPATH"] = os.pathsep.join([str(site), *runtime["PYTHONPATH"].split(os.pathsep)[1:]])
            yield ran(machine.command(cpu, ["-P"]), runtime, far / "nothing", cpu)


def ran(python: list[str], variables: Mapping[str, str], cache: Path, where: str) -> str:
    """The digest of the model's outputs; AssertionError where a compiler was imported, or anything kept."""
    own = {"NUMLITE_CACHE_DIR": str(cache), "NUMLITE_PREPARED": "off"}
    printed = output([*python, "-c", RUN, str(ENGINE), "numlite", str(MODEL), "digest"], {**variables, **own})
    found, compilers = printed.splitlines()
    assert compilers == "[]", compilers
    assert not list(cache.glob("*.bin")), f"{where}: kernels were compiled"
    print(f"   {where}: {MODEL.stem} {found}, no compiler, nothing compiled", flush=True)
    return found


def output(command: list[str], variables: Mapping[str, str]) -> str:
    kept = {name: value for name, value in variables.items() if name not in ("NUMLITE_CPU", "NUMLITE_PACK")}
    return subprocess.run(command, env=kept, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
