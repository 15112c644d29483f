"""The table of kernel families: which kernels of which module are compiled together.

A family is what one file of the cache holds, what progress counts, and what `select-ops` and `warmup` name.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from ..element_functions import units

if TYPE_CHECKING:
    from .driver.kernel_source import KernelSource


class Family(NamedTuple):
    """Kernels of `compiled/<module>.py`: those whose names match one of the patterns (`*_f32 fill`)."""

    module: str
    kernels: str = "*"

    def sources(self) -> Mapping[str, KernelSource]:
        """The kernels as written; this imports the module, and Numba with it."""
        from fnmatch import fnmatchcase

        kernels: Mapping[str, KernelSource] = import_module(f".{self.module}", __package__).kernels
        patterns = self.kernels.split()
        return {name: kernels[name] for name in kernels if any(fnmatchcase(name, p) for p in patterns)}


# Modules that are one family, of the module's name.
_WHOLE = (
    "arg_min_max",
    "batch_matmul_f32",
    "batch_matmul_hybrid",
    "batch_matmul_plain_hybrid",
    "batch_matmul_plain_q16",
    "batch_matmul_plain_q8",
    "batch_matmul_q8",
    "bucketize",
    "concatenation",
    "control_flow",
    "conv_3d",
    "conv_exact_q8",
    "conv_f32",
    "conv_hybrid",
    "conv_q16",
    "conv_q16_w16",
    "conv_q8",
    "conv_sums_q8",
    "cumsum",
    "depthwise_conv_3x3_exact_q8",
    "depthwise_conv_3x3_q8",
    "depthwise_conv_3x3_wide_q8",
    "depthwise_conv_5x5_q8",
    "depthwise_conv_exact_q8",
    "depthwise_conv_f32",
    "depthwise_conv_hybrid",
    "depthwise_conv_q16",
    "depthwise_conv_q8",
    "detection_postprocess",
    "dynamic_update_slice",
    "fully_connected_blockwise",
    "gemm_exact_q8",
    "gemm_f32",
    "gemm_hybrid",
    "gemm_q8",
    "gemm_sums_q8",
    "gemv_exact_q8",
    "gemv_hybrid",
    "gemv_q8",
    "lookup",
    "lstm_basic",
    "lstm_f32",
    "lstm_q8",
    "non_max_suppression",
    "normalization",
    "pack_f32",
    "pack_matrices_q8",
    "pad_image_q8",
    "quantize",
    "quantize_reference",
    "quantize_rows",
    "quantize_rows_reference",
    "random",
    "resize",
    "resource",
    "reverse",
    "rfft2d",
    "rnn",
    "scatter",
    "segment",
    "select",
    "space_batch",
    "svdf",
    "top_k",
    "where",
    "winograd_f32",
)

# Modules whose kernels are compiled apart, so that no model waits for types and arithmetic it does not use.
_PARTS: dict[str, dict[str, str]] = {
    "driver.executor": {"executor": "*"},
    "embedding": {"embedding": "embedding_lookup", "hashtable_lookup": "hashtable_lookup"},
    "fill": {"fill": "fill one_hot", "range": "range_*"},
    "gather": {"gather": "gather gather_elements_*", "gather_nd": "gather_nd"},
    "pad": {"mirror_pad": "mirror_pad", "pad": "constant_pad"},
    "plain_windows": {
        **{
            f"{op}_plain_{of}": f"{op}_plain_{of}"
            for op in ("conv", "depthwise_conv")
            for of in ("q8", "hybrid")
        },
        "transpose_conv_plain": "transpose_conv_plain_?8 transpose_conv_plain_i16",
        "transpose_conv_plain_hybrid": "transpose_conv_plain_hybrid",
    },
    "pool": {"pool_f32": "*_f32", "pool_i16": "*_i16", "pool_i8": "*_i8", "pool_u8": "*_u8"},
    "reduce": {
        "reduce_f32": "*_f32",
        "reduce_int": "*_i32 *_i64",
        "reduce_q8": "sum_along_?8 sum_across_?8 sum_window_?8",
        "reduce_q8_reference": "sum_reference_*",
        "reduce_stored": "max_*_?8 min_*_?8 max_*_i16 min_*_i16",
    },
    "softmax": {"softmax_f32": "*_f32", "softmax_i16": "softmax_i16", "softmax_q8": "*_i8 *_u8 *8_i16"},
    "strided_copy": {"reshape": "flat_copy", "strided_copy": "copy_*"},
    "transposition": {f"transpose_{n}": f"transpose_{n}" for n in (1, 2, 4, 8)},
}

FAMILIES: dict[str, Family] = {name: Family(name) for name in _WHOLE} | {
    family: Family(module, kernels) for module, parts in _PARTS.items() for family, kernels in parts.items()
}
# Functions of single elements say themselves what they are compiled with.
FAMILIES |= {unit: Family("element_kernels", " ".join(kernels)) for unit, kernels in units().items()}
