"""Which types values are computed in: floats of 32 bits, integers that the op's operator takes."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...kernels.operators import OPERATORS
from ...schema.graph_def import (
    DT_BOOL,
    DT_FLOAT,
    DT_INT8,
    DT_INT16,
    DT_INT32,
    DT_INT64,
    DT_UINT8,
    DT_UINT16,
    DT_UINT32,
)

# Integers of fewer bits than operators compute in.
SHORT_INTEGERS = frozenset((DT_INT8, DT_UINT8, DT_INT16, DT_UINT16))
# The builtin operators that ops become, and which of the types that these are converted for count only as
# quantized numbers, or are not taken by all runtimes.
_OPERATORS: dict[str, tuple[str, str]] = {
    **{"AddV2": ("ADD", "i16"), "Sub": ("SUB", ""), "Mul": ("MUL", "i16 u32"), "Neg": ("NEG", "")},
    **{"Maximum": ("MAXIMUM", ""), "Minimum": ("MINIMUM", ""), "Cumsum": ("CUMSUM", ""), "Pow": ("POW", "")},
    **{"Sum": ("SUM", ""), "Prod": ("REDUCE_PROD", ""), "Max": ("REDUCE_MAX", ""), "Min": ("REDUCE_MIN", "")},
    **{"Less": ("LESS", "i16"), "LessEqual": ("LESS_EQUAL", ""), "Greater": ("GREATER", "")},
    **{"GreaterEqual": ("GREATER_EQUAL", "i16"), "Equal": ("EQUAL", "i16 u8"), "NotEqual": ("NOT_EQUAL", "")},
    **{"RealDiv": ("DIV", ""), "TruncateDiv": ("DIV", ""), "FloorDiv": ("FLOOR_DIV", "i8 i16")},
    **{"FloorMod": ("FLOOR_MOD", "i8 i16"), "Abs": ("ABS", "i16"), "Sign": ("SIGN", "")},
    **{"ConcatV2": ("CONCATENATION", ""), "GatherV2": ("GATHER", ""), "GatherNd": ("GATHER_ND", "")},
    **{"Slice": ("SLICE", ""), "StridedSlice": ("STRIDED_SLICE", ""), "Transpose": ("TRANSPOSE", "")},
    **{"PadV2": ("PADV2", "bool"), "MirrorPad": ("MIRROR_PAD", ""), "Tile": ("TILE", "")},
    **{"BroadcastTo": ("BROADCAST_TO", ""), "TopKV2": ("TOPK_V2", ""), "Where": ("WHERE", "")},
    **{"ArgMax": ("ARG_MAX", "bool"), "ArgMin": ("ARG_MIN", "bool"), "SelectV2": ("SELECT_V2", "")},
    **{"ScatterNd": ("SCATTER_ND", ""), "Unique": ("UNIQUE", ""), "Range": ("RANGE", "")},
    **{"OneHot": ("ONE_HOT", ""), "Pack": ("PACK", ""), "Unpack": ("UNPACK", ""), "SplitV": ("SPLIT_V", "")},
    **{"ReverseV2": ("REVERSE_V2", ""), "ReverseSequence": ("REVERSE_SEQUENCE", "")},
    **{"BatchMatMulV2": ("BATCH_MATMUL", "i8"), "BitwiseXor": ("BITWISE_XOR", "")},
    **{"DepthToSpace": ("DEPTH_TO_SPACE", "i8 u8"), "SpaceToDepth": ("SPACE_TO_DEPTH", "")},
    **{"RightShift": ("RIGHT_SHIFT", ""), "MaxPool": ("MAX_POOL_2D", ""), "AvgPool": ("AVERAGE_POOL_2D", "")},
}
_TYPES = {
    **{"bool": DT_BOOL, "f32": DT_FLOAT, "i8": DT_INT8, "i16": DT_INT16, "i32": DT_INT32, "i64": DT_INT64},
    **{"u8": DT_UINT8, "u16": DT_UINT16, "u32": DT_UINT32},
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
    takes = _taken(op)
    if takes is None or type in takes:
        return None
    return next((each for each in _WIDER.get(type, ()) if each in takes), None)


@cache
def _taken(op: str) -> frozenset[int] | None:
    """The types that the op's operator takes as plain numbers; None where nothing is known of it."""
    if op == "TensorScatterUpdate":  # which becomes several
        return frozenset((DT_FLOAT, DT_INT32, DT_INT64))
    if op not in _OPERATORS:
        return None
    operator, scaled = _OPERATORS[op]
    names = {*OPERATORS[operator].converts.split()} - {*scaled.split()}
    return frozenset(_TYPES[name] for name in names if name in _TYPES)


def inner_array(data: np.ndarray) -> np.ndarray:
    """The elements in the type in which they are computed."""
    if data.dtype in (np.float16, np.float64) or data.dtype.name == "bfloat16":
        # A double beyond float's reach becomes an infinity, as a cast of it would.
        with np.errstate(over="ignore"):
            return data.astype(np.float32)
    return data
