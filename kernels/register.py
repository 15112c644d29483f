"""The builtin operators that numlite runs, and the family module that each comes from."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from ..lite.errors import UnsupportedError
from ..lite.op_resolver import OpResolver
from ..lite.registration import Registration
from .half_precision import IN_FLOAT32, in_float32

if TYPE_CHECKING:
    from .fallback.registry import KernelRegistry
    from .selection import Selection
from .packed_movement import IN_BYTES, in_bytes

# Family module: the operators in its REGISTRATIONS. A module is imported only for a model that
# has one of its operators, because start-up time counts.
REGISTRATIONS: dict[str, tuple[str, ...]] = {
    "activations": (
        "RELU",
        "RELU6",
        "RELU_N1_TO_1",
        "RELU_0_TO_1",
        "LOGISTIC",
        "TANH",
        "ELU",
        "LEAKY_RELU",
        "HARD_SWISH",
    ),
    "add_n": ("ADD_N",),
    "arg_min_max": ("ARG_MAX", "ARG_MIN"),
    "batch_matmul": ("BATCH_MATMUL",),
    "binary": ("ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MAXIMUM", "MINIMUM"),
    "binary_math": ("POW", "FLOOR_DIV", "FLOOR_MOD", "ATAN2"),
    "bucketize": ("BUCKETIZE",),
    "cast": ("CAST", "BITCAST"),
    "comparison": ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"),
    "complex_parts": ("REAL", "IMAG", "COMPLEX_ABS"),
    "concatenation": ("CONCATENATION",),
    "control_flow": ("IF", "WHILE", "CALL", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE", "STABLEHLO_WHILE"),
    "conv": ("CONV_2D",),
    "conv_3d": ("CONV_3D", "CONV_3D_TRANSPOSE"),
    "cumsum": ("CUMSUM",),
    "densify": ("DENSIFY",),
    "depthwise_conv": ("DEPTHWISE_CONV_2D",),
    "dynamic_update_slice": ("DYNAMIC_UPDATE_SLICE",),
    "elementwise": (
        "SIN",
        "COS",
        "EXP",
        "LOG",
        "SQRT",
        "RSQRT",
        "SQUARE",
        "NEG",
        "ABS",
        "FLOOR",
        "CEIL",
        "ROUND",
    ),
    "embedding": ("EMBEDDING_LOOKUP",),
    "embedding_sparse": ("EMBEDDING_LOOKUP_SPARSE",),
    "fill": ("FILL", "ZEROS_LIKE", "ONE_HOT"),
    "fully_connected": ("FULLY_CONNECTED",),
    "gather": ("GATHER",),
    "gather_nd": ("GATHER_ND",),
    "hashtable_lookup": ("HASHTABLE_LOOKUP",),
    "interior_pad": ("STABLEHLO_PAD", "DILATE"),
    "logical": ("LOGICAL_OR", "LOGICAL_AND", "LOGICAL_NOT", "BITWISE_XOR", "RIGHT_SHIFT"),
    "hashtable": ("HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE"),
    "lsh_projection": ("LSH_PROJECTION",),
    "lstm": ("LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_LSTM"),
    "matrix_diag": ("MATRIX_DIAG", "MATRIX_SET_DIAG"),
    "mirror_pad": ("MIRROR_PAD",),
    "non_max_suppression": ("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5"),
    "pad": ("PAD", "PADV2"),
    "normalization": ("L2_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION"),
    "pool": ("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"),
    "prelu": ("PRELU",),
    "quantize": ("QUANTIZE", "DEQUANTIZE"),
    "random": ("RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "MULTINOMIAL"),
    "range": ("RANGE",),
    "reduce": ("MEAN", "SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL"),
    "reduce_window": ("REDUCE_WINDOW", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_REDUCE"),
    "reshape": ("RESHAPE", "SQUEEZE", "EXPAND_DIMS"),
    "resize": ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"),
    "resource": ("CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"),
    "reverse": ("REVERSE_V2", "REVERSE_SEQUENCE"),
    "scatter": ("SCATTER_ND", "SPARSE_TO_DENSE"),
    "segment": (
        "SEGMENT_SUM",
        "UNSORTED_SEGMENT_SUM",
        "UNSORTED_SEGMENT_PROD",
        "UNSORTED_SEGMENT_MAX",
        "UNSORTED_SEGMENT_MIN",
    ),
    "select": ("SELECT", "SELECT_V2"),
    "rfft2d": ("RFFT2D",),
    "rnn": ("RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"),
    "shape": ("SHAPE", "RANK", "BROADCAST_ARGS"),
    "skip_gram": ("SKIP_GRAM",),
    "slice": ("SLICE", "STRIDED_SLICE"),
    "softmax": ("SOFTMAX", "LOG_SOFTMAX"),
    "space_batch": ("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"),
    "space_depth": ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH"),
    "split": ("SPLIT", "SPLIT_V", "PACK", "UNPACK"),
    "svdf": ("SVDF",),
    "stablehlo_gather": ("STABLEHLO_GATHER", "STABLEHLO_SCATTER"),
    "stablehlo_contraction": ("STABLEHLO_CONVOLUTION", "STABLEHLO_DOT_GENERAL"),
    "stablehlo_elementwise": (
        "STABLEHLO_ADD",
        "STABLEHLO_SUBTRACT",
        "STABLEHLO_MULTIPLY",
        "STABLEHLO_DIVIDE",
        "STABLEHLO_MAXIMUM",
        "STABLEHLO_MINIMUM",
        "STABLEHLO_POWER",
        "STABLEHLO_REMAINDER",
        "STABLEHLO_AND",
        "STABLEHLO_OR",
        "STABLEHLO_SHIFT_LEFT",
        "STABLEHLO_LOGISTIC",
        "STABLEHLO_TANH",
        "STABLEHLO_COSINE",
        "STABLEHLO_EXPONENTIAL",
        "STABLEHLO_LOG",
        "STABLEHLO_RSQRT",
        "STABLEHLO_CBRT",
        "STABLEHLO_FLOOR",
        "STABLEHLO_NEGATE",
        "STABLEHLO_ABS",
        "STABLEHLO_CONVERT",
        "STABLEHLO_COMPARE",
        "STABLEHLO_SELECT",
        "STABLEHLO_CLAMP",
    ),
    "stablehlo_rng": ("STABLEHLO_RNG_BIT_GENERATOR",),
    "stablehlo_movement": (
        "STABLEHLO_RESHAPE",
        "STABLEHLO_TRANSPOSE",
        "STABLEHLO_SLICE",
        "STABLEHLO_CONCATENATE",
        "STABLEHLO_BROADCAST_IN_DIM",
        "STABLEHLO_IOTA",
        "STABLEHLO_DYNAMIC_SLICE",
        "STABLEHLO_DYNAMIC_UPDATE_SLICE",
    ),
    "stablehlo_sort": ("STABLEHLO_SORT",),
    "tile": ("TILE", "BROADCAST_TO"),
    "top_k": ("TOPK_V2",),
    "transpose": ("TRANSPOSE",),
    "unary_math": ("SIGN", "GELU", "FAKE_QUANT"),
    "transpose_conv": ("TRANSPOSE_CONV",),
    "where": ("WHERE", "UNIQUE"),
}

# The same for custom operators that TFLite ships, or that common models carry.
CUSTOM_REGISTRATIONS: dict[str, tuple[str, ...]] = {
    "audio": ("AudioSpectrogram", "Mfcc"),
    "detection_postprocess": ("TFLite_Detection_PostProcess",),
    "hadamard_rotation": ("aeq.hadamard_rotation",),
    "numeric_verify": ("NumericVerify",),
    "pool_argmax": ("MaxPoolingWithArgmax2D", "MaxPoolWithArgmax", "MaxUnpooling2D"),
    "tensor_list": (
        "TensorListReserve",
        "TensorListFromTensor",
        "TensorListSetItem",
        "TensorListPushBack",
        "TensorListResize",
        "VariantZerosLike",
        "VariantAddN",
        "TensorListGetItem",
        "TensorListPopBack",
        "TensorListStack",
        "TensorListLength",
        "TensorListElementShape",
    ),
    "transpose_conv_bias": ("Convolution2DTransposeBias",),
}

_FAMILY_OF = {name: family for family, names in REGISTRATIONS.items() for name in names}
_CUSTOM_FAMILY_OF = {name: family for family, names in CUSTOM_REGISTRATIONS.items() for name in names}


def registrations(family: str) -> tuple[Registration, ...]:
    """What a family module registers."""
    found: tuple[Registration, ...] = import_module(f".{family}", __package__).REGISTRATIONS
    return tuple(_with_small_types(entry) for entry in found)


def _with_small_types(entry: Registration) -> Registration:
    if entry.name in IN_FLOAT32:
        return in_float32(entry)
    return in_bytes(entry) if entry.name in IN_BYTES else entry


class BuiltinOpResolver(OpResolver):
    """Knows every operator of the table; families are imported when they are first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._imported: set[str] = set()
        self.selection: Selection | None = None  # the only operators to offer, besides a user's own
        self._own: set[int | str] = set()

    @classmethod
    def from_selection(cls, path: str | os.PathLike[str]) -> BuiltinOpResolver:
        """Offers only what a file of `numlite select-ops` lists; ModelError when it is none."""
        from .selection import read_selection

        resolver = cls()
        resolver.selection = read_selection(path)
        return resolver

    def fallback_kernels(self) -> KernelRegistry | None:
        """The TensorFlow kernels to offer, None for all."""
        if self.selection is None:
            return None
        from .fallback.selected import SelectedKernels

        return SelectedKernels(self.selection.fallback)

    def add_builtin(self, registration: Registration) -> None:
        self._own.add(registration.builtin_code)
        super().add_builtin(registration)

    def add_custom(self, name: str, registration: Registration) -> None:
        self._own.add(name)
        super().add_custom(name, registration)

    def find_builtin(self, code: int, version: int, name: str) -> Registration:
        if self.selection is not None and code not in self._own:
            least, greatest = self.selection.builtin.get(name, (0, -1))
            if not least <= version <= greatest:
                raise UnsupportedError(
                    f"Didn't find op for builtin opcode '{name}' version '{version}' in the selection; "
                    "numlite select-ops with this model makes one that has it"
                )
        family = _FAMILY_OF.get(name)
        if family is not None and family not in self._imported:
            self._imported.add(family)
            for registration in registrations(family):
                # Behind what a user has added, which wins.
                self._builtins.setdefault(registration.builtin_code, []).append(registration)
        return super().find_builtin(code, version, name)

    def find_custom(self, name: str) -> Registration | None:
        if self.selection is not None and name not in self.selection.custom | self._own:
            return None
        family = _CUSTOM_FAMILY_OF.get(name)
        if family is not None and name not in self._custom:
            for registration in registrations(family):
                self._custom.setdefault(registration.name, registration)
        return super().find_custom(name)
