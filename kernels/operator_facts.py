"""What the table of builtin operators says of each: kernels/operators.py."""

from __future__ import annotations

from enum import IntEnum
from typing import TypedDict

from ..lite.registration import InplaceOperator
from ..lite.tensor import TensorType
from ..schema.named_tuple import NamedTuple

# Element types by the table's words for them.
NAMED_TYPES = {
    "bf16": TensorType.BFLOAT16,
    "f16": TensorType.FLOAT16,
    "f32": TensorType.FLOAT32,
    "f64": TensorType.FLOAT64,
    "i2": TensorType.INT2,
    "i4": TensorType.INT4,
    "i8": TensorType.INT8,
    "i16": TensorType.INT16,
    "i32": TensorType.INT32,
    "i64": TensorType.INT64,
    "u4": TensorType.UINT4,
    "u8": TensorType.UINT8,
    "u16": TensorType.UINT16,
    "u32": TensorType.UINT32,
    "bool": TensorType.BOOL,
    "str": TensorType.STRING,
    "c64": TensorType.COMPLEX64,
    "c128": TensorType.COMPLEX128,
}
# Element types by the ends of kernels' names.
SUFFIXES: dict[int, str] = {
    NAMED_TYPES[name]: name
    for name in ("f32", "f64", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "i64", "bool")
}


class Effects(IntEnum):
    """What an operator does besides computing its results from its inputs."""

    NONE = 0
    CALLS = 1  # runs subgraphs, and has their effects
    LOOKS_UP = 2  # reads a state that is written once, by initialization
    READS = 3  # reads a state that changes, or draws random numbers: two equal ones may differ
    WRITES = 4  # changes a state: it runs even where no one uses its results


class Operator(NamedTuple):
    """The facts about one builtin operator.

    family names the module of kernels/, version is the newest one that it runs; gpu names the
    family in delegates/cuda/families.py, "" where there is none. built are the element types that its kernels
    take, "" where all do, or several operands decide. halves are the types whose results are those
    of float32, rounded; packed tells whether 2- and 4-bit tensors are moved as bytes. converts are the types
    of operand typed_operand for which the converter makes the operator (TensorFlow
    compiler/mlir/lite/ir/tfl_ops.td), "" for any.

    versions are the operator's versions from 1 on, with commas between them: the release of TensorFlow that
    brought it ("-" where unknown; LiteRT tflite/converter/tools/versioning/runtime_version.cc), and what asks
    for it, in the words of converter/operator_version.py; nothing asks for a version without words (LiteRT
    tflite/converter/tools/versioning/op_version.cc).
    """

    family: str
    version: int
    built: str = ""
    in_place: InplaceOperator = InplaceOperator.NONE
    effects: Effects = Effects.NONE
    halves: str = ""
    packed: bool = False
    commutes: bool = False  # its first two operands may change places
    results: str = ""  # types of its results, as typed_operator.py reads them, where the file's do not count
    activates: bool = False  # its kernels apply the activation that its options name
    fuses: str = ""  # operators whose results it reads where its module fuses it with others
    gpu: str = ""
    converts: str = ""
    typed_operand: int = 0
    versions: str = ""


class Promises(TypedDict):
    """The facts that a Registration takes."""

    builtin_code: int
    max_version: int
    inplace_operator: InplaceOperator
    side_effects: bool
    is_own: bool
