"""The types of elements: how kernels of one type reach them, and what they can hold."""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from . import elements, memory


class ElementType(NamedTuple):
    """A type by the name that kernels' names end with.

    width is NumPy's scalar type; lowest and highest are infinite for floats.
    read_back reads what the kernel itself may have written.
    """

    name: str
    width: Any
    pointer: Any
    read: Any
    write: Any
    read_back: Any
    bytes: int
    lowest: Any
    highest: Any


def _type(name: str) -> ElementType:
    numba_type = {"f": "float", "i": "int", "u": "uint"}[name[0]] + name[1:]
    width = getattr(np, numba_type)
    own = elements.reader(getattr(types, numba_type), own_writes=True)
    limits = (-np.inf, np.inf) if name[0] == "f" else (np.iinfo(width).min, np.iinfo(width).max)
    read, write = (getattr(elements, f"{verb}_{name}") for verb in ("read", "write"))
    pointer = getattr(memory, f"{numba_type}_pointer")
    return ElementType(name, width, pointer, read, write, own, np.dtype(width).itemsize, *limits)


I8, U8, I16, I32, I64, F32, F64 = map(_type, ("i8", "u8", "i16", "i32", "i64", "f32", "f64"))
