"""Building packs: every family compiled for a target, linked into one file.

The same sources, compilers and target give the same bytes. What is compiled is kept in the cache by its
digest, so that a build that was stopped goes on, and one after a change compiles what has changed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Collection
from importlib.metadata import version

from ....lite.environment import VERSION
from ....lite.private_file import blake2b
from ....lite.whole_file import write_whole
from ..families import all_families
from ..language.targets import Target
from .build import CompileError, build
from .cache import read, write
from .image import SYMBOL_PREFIX
from .linker import elf
from .linker.mach_o import dylib
from .linker.object_file import read_objects
from .linker.portable_executable import PROBE, dll
from .linker.shared_object import shared_object
from .packs import ID_KERNEL, INDEX_FILE, SUFFIX, pack_text
from .progress import Progress
from .sources import family_digest, source_digest

# What wheels carry, by their machine.
PACKED = {
    "x86_64": ("x86-64-v2", "x86-64-v3", "x86-64-v3-vnni", "x86-64-v4-vnni", "icelake", "sapphirerapids"),
    "aarch64": ("aarch64", "aarch64-dotprod", "aarch64-i8mm"),
    "macos": ("aarch64-dotprod", "aarch64-i8mm"),
    "windows": ("x86-64-v2", "x86-64-v3"),
}

_ID_SYMBOL = SYMBOL_PREFIX + ID_KERNEL
# What every process has: a pack needs no library, and computes the same with any.
_IMPORTS = {"bzero", "memcpy", "memmove", "memset"}
# And what LLVM asks of other systems: that of Windows is in the pack itself.
_ALSO_IMPORTED = {
    "windows": {PROBE},
    "macos": {"memset_pattern4", "memset_pattern8", "memset_pattern16"},
}


def build_pack(
    made_for: Target, folder: str, families: Collection[str] = (), system: str = ""
) -> tuple[str, int]:
    """Write a target's pack of all families, or of some; its path and bytes.

    It is for Linux, or for another system of targets.SYSTEMS.
    Raises CompileError when a family does not compile, and OSError when nothing can be written.
    """
    os.makedirs(folder, exist_ok=True)
    wanted = sorted(families or all_families())
    objects = {family: read(*_kept_as(family, made_for, system)) or b"" for family in wanted}
    missing = [family for family in wanted if not objects[family]]
    if missing:
        title = f"Compiling kernels for {made_for.name} {system}".rstrip()
        with Progress(title, len(missing), "families") as progress:

            def done(family: str, image: bytes) -> None:
                objects[family] = image
                write(*_kept_as(family, made_for, system), image)
                progress.step()

            build(missing, done, made_for, "object", system)
    path = os.path.join(folder, made_for.name + SUFFIX)
    return path, write_whole(path, [_linked(objects, made_for, system)])


def _kept_as(family: str, made_for: Target, system: str) -> tuple[str, str]:
    return f"{family}-{made_for.name}.{system}object", family_digest(family, made_for)


def _linked(objects: dict[str, bytes], made_for: Target, system: str) -> bytes:
    kernels = {family: _kernels(image) for family, image in objects.items()}
    described = {family: [source_digest(family), *names] for family, names in kernels.items()}
    exports = [SYMBOL_PREFIX + name for names in kernels.values() for name in names]
    texts = {_ID_SYMBOL: pack_text(made_for.name, described)}
    known = _IMPORTS | _ALSO_IMPORTED.get(system, set())
    foreign = sorted(set(read_objects(objects.values()).imports) - known)
    if foreign:
        raise CompileError(
            f"packs: kernels must call nothing but {', '.join(sorted(_IMPORTS))}, got {foreign}"
        )
    images = objects.values()
    if system == "windows":
        return dll(images, exports, texts)
    if system == "macos":
        return dylib(images, exports, made_for.name + SUFFIX, texts)
    return shared_object(images, exports, texts=texts)


def _kernels(image: bytes) -> list[str]:
    """The kernels that an object defines."""
    visible = (s.name for s in read_objects([image]).symbols if s.visible and s.section is not None)
    return sorted(name.removeprefix(SYMBOL_PREFIX) for name in visible if name.startswith(SYMBOL_PREFIX))


def write_index(folder: str) -> list[str]:
    """Write index.json for the packs in a folder; those of other sources are removed, and named."""
    packs, removed, sources = dict[str, dict[str, object]](), list[str](), dict[str, str]()
    for file in sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX)):
        path, target = os.path.join(folder, file), file.removesuffix(SUFFIX)
        with open(path, "rb") as opened:
            image = opened.read()
        first, *lines = _text_of(image).splitlines()
        found = {family: digest for family, digest, *_ in (line.split(" ") for line in lines)}
        if first == f"{VERSION} {target}" and all(digest == source_digest(f) for f, digest in found.items()):
            sources |= found
            packs[target] = {"bytes": len(image), "blake2b": blake2b(image, digest_size=32).hexdigest()}
        else:
            os.unlink(path)
            removed.append(path)
    compilers = {"python": sys.version.split()[0]} | {n: version(n) for n in ("llvmlite", "numba", "numpy")}
    index = {"version": VERSION, "compilers": compilers, "wheels": PACKED, "packs": packs, "sources": sources}
    write_whole(os.path.join(folder, INDEX_FILE), [json.dumps(index, indent=1).encode() + b"\n"])
    return removed


def _text_of(image: bytes) -> str:
    """What a pack for whatever machine says of itself; nothing for another file."""
    if image[: len(elf.IDENT)] == elf.IDENT:
        # Constants lie in the first segment, where addresses are file offsets.
        at = dict(elf.exports(image)).get(_ID_SYMBOL)
        return "no pack" if at is None else elf.text_at(image, at)
    found = re.search(rb"(%b [\w.-]+\n[ -~\n]*)\0" % re.escape(VERSION.encode()), image)
    return found[1].decode() if found else "no pack"
