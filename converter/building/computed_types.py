"""Which types values are computed in: floats of 32 bits, integers that the op's operator takes."""

from __future__ import annotations

import numpy as np

from ...schema.graph_def import (
    DT_BOOL,
    DT_FLOAT,
    DT_INT8,
    DT_INT16,
    DT_INT32,
    DT_INT64,
    DT_STRING,
    DT_UINT8,
    DT_UINT16,
    DT_UINT32,
)

_TYPES = {
    "f32": DT_FLOAT,
    "i8": DT_INT8,
    "i16": DT_INT16,
    "i32": DT_INT32,
    "i64": DT_INT64,
    "u8": DT_UINT8,
    "u16": DT_UINT16,
    "u32": DT_UINT32,
    "bool": DT_BOOL,
    "str": DT_STRING,
}


def _types(text: str) -> frozenset[int]:
    return frozenset(_TYPES[word] for word in text.split())


# Integers of fewer bits than operators compute in.
SHORT_INTEGERS = _types("i8 u8 i16 u16")
_NUMBERS = _types("f32 i32 i64")
# What the builtin operators that ops become are converted for (kernels/operators.py).
TAKES: dict[str, frozenset[int]] = {
    **dict.fromkeys(("AddV2", "Sub", "Mul", "Maximum", "Minimum", "Neg", "Cumsum"), _NUMBERS),
    **dict.fromkeys(("Sum", "Max", "Min", "Prod"), _NUMBERS),
    **dict.fromkeys(("Less", "LessEqual", "Greater", "GreaterEqual"), _NUMBERS),
    **dict.fromkeys(("Equal", "NotEqual"), _types("bool f32 i32 i64 str")),
    **dict.fromkeys(("RealDiv", "TruncateDiv", "Pow", "Abs", "Sign", "FloorDiv"), _types("f32 i32")),
    "FloorMod": _NUMBERS,
    "ConcatV2": _types("f32 i64 i32 i16 i8 u8 u32 bool str"),
    "GatherV2": _types("f32 bool i8 i16 i32 i64 str u8"),
    "GatherNd": _types("f32 bool i8 i16 i64 i32 u8 str"),
    "Slice": _types("f32 i32 i64 i8 u8 u32 bool str"),
    "StridedSlice": _types("f32 i32 i64 i8 u8 u32 bool i16 str"),
    "Transpose": _types("i32 f32 i8 u8 bool i64"),
    "PadV2": _types("f32 i32 i64 u8"),
    "MirrorPad": _types("f32 i32 i64 i8 u8"),
    "Tile": _types("f32 bool i32 i64 u8 str"),
    "BroadcastTo": _types("f32 i32 bool i8 u8 u32 i16 i64"),
    "TopKV2": _types("f32 i8 i16 i32 i64 u8"),
    "ArgMax": _types("f32 i32 i8 u8"),
    "ArgMin": _types("f32 i32 i8 u8"),
    "Where": _types("bool f32 i32 i64 i8 u8 u32"),
    "SelectV2": _types("f32 bool i8 i16 i32 i64 u32"),
    "ScatterNd": _types("f32 i8 i64 i32 u8 bool"),
    "TensorScatterUpdate": _types("f32 i32 i64"),
    "Unique": _types("i8 u8 i16 i32 i64 f32"),
    "Range": _types("i32 f32 i64"),
    "OneHot": _types("f32 i32 i64 bool i8 u8"),
    "Pack": _types("f32 i8 i16 i32 i64 u8 u32"),
    "Unpack": _types("f32 bool i8 u8 i32 i16"),
    "SplitV": _types("f32 i16 i32 i64 i8 u8"),
    "ReverseV2": _types("f32 u8 i16 i32 i64 bool"),
    "ReverseSequence": _types("f32 u8 i16 i32 i64"),
    "BatchMatMulV2": _types("f32"),
    "DepthToSpace": _types("f32 i32 i64"),
    "SpaceToDepth": _types("f32 i32 i64"),
    "BitwiseXor": _types("i8 u8 i16 u16 i32 u32"),
    "RightShift": _types("i8 u8 i16 u16 i32 u32"),
    "MaxPool": _types("f32"),
    "AvgPool": _types("f32"),
}
# Where the first that the op takes can hold all that the type can.
_WIDER = {
    DT_BOOL: (DT_UINT8, DT_INT32),
    DT_INT8: (DT_INT16, DT_INT32, DT_FLOAT),
    DT_UINT8: (DT_INT16, DT_INT32, DT_FLOAT),
    DT_INT16: (DT_INT32, DT_FLOAT),
    DT_UINT16: (DT_INT32, DT_FLOAT),
    DT_UINT32: (DT_INT64,),
}


def wider(op: str, type: int) -> int | None:
    """The type to compute the op in, None where it takes the type itself, or no wider one."""
    takes = TAKES.get(op)
    if takes is None or type in takes:
        return None
    return next((each for each in _WIDER.get(type, ()) if each in takes), None)


def inner_array(data: np.ndarray) -> np.ndarray:
    """The elements in the type in which they are computed."""
    if data.dtype in (np.float16, np.float64) or data.dtype.name == "bfloat16":
        # A double beyond float's reach becomes an infinity, as a cast of it would.
        with np.errstate(over="ignore"):
            return data.astype(np.float32)
    return data
