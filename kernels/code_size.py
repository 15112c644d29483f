"""How much code there is: machine code of compiled families and kernels, bytecode of modules."""

from __future__ import annotations

import marshal
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType

from .compiled.driver.cache import read
from .compiled.driver.image import SYMBOL_PREFIX, uses_shared_objects
from .compiled.driver.library import Library
from .compiled.driver.sources import family_digest

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<QQ")
_LOAD, _DYNAMIC_SEGMENT, _EXECUTABLE = 1, 2, 1
_DT_HASH, _DT_STRTAB, _DT_SYMTAB = 4, 5, 6


@dataclass(frozen=True)
class FamilySize:
    """Bytes of one family: the whole image, its machine code, and the code of each kernel.

    A kernel's code reaches from its entry to the next kernel's; what lies before the first are
    functions that kernels call. Where images are not shared objects, only the image's size is known.
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
    image = read(family, family_digest(family))
    if image is None:
        return FamilySize(0, 0, {})
    if not uses_shared_objects():
        return FamilySize(len(image), 0, {})
    start, end = _code(image)
    places = sorted((address, name) for name, address in _exports(image))
    ends = [address for address, _ in places[1:]] + [end]
    kernels = {name: after - address for (address, name), after in zip(places, ends, strict=True)}
    return FamilySize(len(image), end - start, kernels)


def _segments(image: bytes) -> Iterable[tuple[int, ...]]:
    header = _HEADER.unpack_from(image)
    start, count = header[5], header[10]
    return (_SEGMENT.unpack_from(image, start + i * _SEGMENT.size) for i in range(count))


def _code(image: bytes) -> tuple[int, int]:
    """Where the machine code begins and ends; file offsets are addresses in our images."""
    for kind, flags, offset, _, _, nbytes, _, _ in _segments(image):
        if kind == _LOAD and flags & _EXECUTABLE:
            return offset, offset + nbytes
    return 0, 0


def _exports(image: bytes) -> Iterable[tuple[str, int]]:
    """Names and addresses of the kernels."""
    at, nbytes = next((s[2], s[5]) for s in _segments(image) if s[0] == _DYNAMIC_SEGMENT)
    entries = dict(_DYNAMIC.iter_unpack(image[at : at + nbytes]))
    count = struct.unpack_from("<I", image, entries[_DT_HASH] + 4)[0]
    for number in range(count):
        name, _, _, section, address, _ = _SYMBOL.unpack_from(
            image, entries[_DT_SYMTAB] + number * _SYMBOL.size
        )
        start = entries[_DT_STRTAB] + name
        text = image[start : image.index(b"\0", start)].decode()
        if section and text.startswith(SYMBOL_PREFIX):
            yield text.removeprefix(SYMBOL_PREFIX), address


def bytecode_bytes(modules: Iterable[str]) -> int:
    """Bytes of the bytecode of loaded modules, as a .pyc file holds it."""
    total = 0
    for name in modules:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        code = spec.loader.get_code(name) if spec is not None and hasattr(spec.loader, "get_code") else None
        if isinstance(code, CodeType):
            total += len(marshal.dumps(code))
    return total
