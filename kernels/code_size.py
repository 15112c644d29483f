"""How much code there is: machine code of compiled families and kernels, bytecode of modules."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from .compiled.driver.cache import read
from .compiled.driver.image import SYMBOL_PREFIX, uses_shared_objects
from .compiled.driver.library import Library, family_pack
from .compiled.driver.linker import elf
from .compiled.driver.sources import cache_key


@dataclass(frozen=True)
class FamilySize:
    """Bytes of one family: the whole image, its machine code, and the code of each kernel.

    A kernel's code reaches from its entry to the next kernel's; what lies before the first are
    functions that kernels call. Where images are not shared objects, only the image's size is known; of
    a family in a pack, only its kernels'.
    """

    image_bytes: int
    code_bytes: int
    kernels: dict[str, int]

    @property
    def called_bytes(self) -> int:
        return self.code_bytes - sum(self.kernels.values())


def family_size(family: str) -> FamilySize:
    """The sizes of a family, which is compiled if need be; zeros where nothing can be cached."""
    Library().load({family: set()})
    pack = family_pack(family)
    if pack is not None:
        return _packed_size(Path(pack.path).read_bytes(), pack.families[family][1:])
    image = read(*cache_key(family))
    if image is None:
        return FamilySize(0, 0, {})
    if not uses_shared_objects():
        return FamilySize(len(image), 0, {})
    start, end = elf.code(image)
    return FamilySize(len(image), end - start, _kernel_sizes(image))


def _kernel_sizes(image: bytes) -> dict[str, int]:
    """Bytes from each exported function to the next one, or to the end of the code."""
    start, end = elf.code(image)
    kernels = ((name.removeprefix(SYMBOL_PREFIX), address) for name, address in elf.exports(image))
    places = sorted((address, name) for name, address in kernels if start <= address < end)
    ends = [address for address, _ in places[1:]] + [end]
    return {name: after - address for (address, name), after in zip(places, ends, strict=True)}


def _packed_size(image: bytes, kernels: Iterable[str]) -> FamilySize:
    sizes = _kernel_sizes(image)
    own = {name: sizes[name] for name in kernels}
    return FamilySize(sum(own.values()), sum(own.values()), own)


def bytecode_bytes(modules: Iterable[str]) -> int:
    """Bytes of the bytecode of loaded modules, as a .pyc file holds it."""
    total = 0
    for name in modules:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        code = spec.loader.get_code(name) if spec is not None and hasattr(spec.loader, "get_code") else None
        if isinstance(code, CodeType):
            total += len(marshal.dumps(code))
    return total
