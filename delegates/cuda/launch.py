"""What runs on the device, as plain values: kernels, where their operands lie, and launches."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

Constant = int | bool | float | str
MOST_ELEMENTS = 1 << 31  # of an operand: offsets in it are int32

# Element types as Triton writes them, with their sizes in bytes.
ELEMENT_BYTES = {
    "i8": 1,
    "u8": 1,
    "i16": 2,
    "u16": 2,
    "i32": 4,
    "i64": 8,
    "fp16": 2,
    "bf16": 2,
    "fp32": 4,
    "fp64": 8,
}
_NUMPY = {
    "bool": "u8",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int32": "i32",
    "int64": "i64",
    "float16": "fp16",
    "float32": "fp32",
    "float64": "fp64",
}


def element_type(dtype: np.dtype) -> str:
    """The device's name of a NumPy dtype; KeyError for one that it does not have."""
    return _NUMPY[np.dtype(dtype).name]


class Place(NamedTuple):
    """Memory whose address is known when a plan is bound.

    kind is "tensor" (key: its number), "scratch", "weights" or "table".
    """

    kind: str
    key: Hashable


class Pointer(NamedTuple):
    """An operand of a kernel: elements of a type from a place onwards."""

    place: Place
    type: str


Argument = Pointer | int | float


@dataclass(frozen=True)
class Kernel:
    """One variant of a function of device_code/: what has to be compiled, and how.

    source names the module (or a .cu file), signature the run-time arguments and their types ("*i8"
    is a pointer, whose address is a multiple of 16), constants the compile-time ones; divisible lists
    the integers that are multiples of 16. "end.low" is the field low of the function's parameter end, whose
    fields stand together.
    """

    source: str
    function: str
    signature: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, Constant], ...]
    divisible: tuple[str, ...] = ()
    warps: int = 4
    stages: int = 3

    def __str__(self) -> str:
        constants = " ".join(f"{name}={value}" for name, value in self.constants)
        return f"{self.source}.{self.function} {constants} w{self.warps} s{self.stages}"


def by_parameter(arguments: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Arguments by the function's own parameters: fields of one parameter are a named tuple."""
    fields: dict[str, dict[str, Any]] = {}
    for name, value in arguments:
        parameter, _, field = name.partition(".")
        fields.setdefault(parameter, {})[field] = value
    return {
        name: values[""] if "" in values else _record(name, tuple(values))(*values.values())
        for name, values in fields.items()
    }


@cache
def _record(name: str, fields: tuple[str, ...]) -> Any:
    return namedtuple(name, fields)


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel over a grid; label and node say for which operator, -1 for none."""

    kernel: Kernel
    grid: tuple[int, int, int]
    args: tuple[Argument, ...]
    label: str = ""
    node: int = -1

    @property
    def places(self) -> list[Place]:
        """The memory that it reads or writes."""
        return [arg.place for arg in self.args if isinstance(arg, Pointer)]


def make_launch(
    source: str,
    function: str,
    grid: tuple[int, ...],
    args: Mapping[str, Argument],
    constants: Mapping[str, Constant],
    *,
    divisible: tuple[str, ...] = (),
    warps: int = 4,
    stages: int = 3,
    label: str = "",
    node: int = -1,
) -> Launch:
    """A launch, whose kernel's signature follows from the arguments: ints are int32, or int64 where
    they do not fit; floats are float32. divisible names integers that may be multiples of 16: those that
    are make another variant.
    """
    signature = tuple((name, _type_of(value)) for name, value in args.items())
    multiples = tuple(name for name in divisible if _is_multiple_of_16(args[name]))
    kernel = Kernel(source, function, signature, tuple(constants.items()), multiples, warps, stages)
    x, y, z = (*grid, 1, 1)[:3]
    return Launch(kernel, (x, y, z), tuple(args.values()), label, node)


def _type_of(value: Argument) -> str:
    if isinstance(value, Pointer):
        return f"*{value.type}"
    if isinstance(value, float):
        return "fp32"
    return "i32" if -(1 << 31) <= value < 1 << 31 else "i64"


def _is_multiple_of_16(value: Argument) -> bool:
    return isinstance(value, int) and value % 16 == 0
