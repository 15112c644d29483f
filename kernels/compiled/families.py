"""The table of kernel families: which kernels of which module are compiled together.

A family is what one file of the cache holds, what progress counts, and what `select-ops` and `warmup` name.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

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
    "arena_search",
    "arg_min_max",
    "batch_matmul_f32",
    "bucketize",
    "concatenation",
    "control_flow",
    "conv_3d",
    "conv_f32",
    "cumsum",
    "depthwise_conv_f32",
    "detection_postprocess",
    "dynamic_update_slice",
    "fully_connected_blockwise",
    "gemm_f32",
    "lookup",
    "lstm_basic",
    "lstm_f32",
    "lstm_q8",
    "machine_peak",
    "non_max_suppression",
    "normalization",
    "observation",
    "pack_matrices_q8",
    "quantize_rows",
    "quantize_rows_reference",
    "random",
    "resize",
    "resource",
    "reverse",
    "rfft2d",
    "rnn",
    "row_chain",
    "rows_by_matrices_f32",
    "rows_by_matrices_q8",
    "scatter",
    "segment",
    "space_batch",
    "svdf",
    "top_k",
    "weight_rounding",
    "where",
    "winograd_f32",
)


def _apart(names: str) -> dict[str, str]:
    """Kernels that are a family each."""
    return {name: name for name in names.split()}


# Modules whose kernels are compiled apart, so that no model waits for types and arithmetic it does not use.
_PARTS: dict[str, dict[str, str]] = {
    "batch_matmul_plain": {
        "batch_matmul_plain_hybrid": "batch_matmul_plain_hybrid",
        "batch_matmul_plain_q16": "batch_matmul_i16*",
        "batch_matmul_plain_q8": "batch_matmul_i8*",
    },
    "depthwise_rows_q8": {
        **_apart("depthwise_conv_q8 depthwise_conv_exact_q8 depthwise_conv_hybrid grouped_conv_hybrid"),
        **{
            f"depthwise_conv_{size}_q8": f"depthwise_conv_{size}_q8_*"
            for size in ("3x3", "3x3_wide", "3x3_exact", "5x5")
        },
    },
    "driver.executor": {"executor": "*"},
    "embedding": {"embedding": "embedding_lookup", "hashtable_lookup": "hashtable_lookup"},
    "fill": {"fill": "fill one_hot", "range": "range_*"},
    "gather": {"gather": "gather gather_elements_*", "gather_nd": "gather_nd"},
    "matrices_q8": _apart("batch_matmul_q8 batch_matmul_exact_q8 batch_matmul_hybrid"),
    "matrix_q16": _apart("conv_wide_q16 conv_float64_q16 depthwise_conv_wide_q16"),
    "matrix_q8": _apart(
        "conv_q8 conv_sums_q8 conv_exact_q8 conv_hybrid gemm_q8 gemm_sums_q8 gemm_exact_q8 gemm_hybrid "
        "gemv_q8 gemv_exact_q8 gemv_hybrid"
    ),
    "packing": {"pack_f32": "pack_*", "pad_image_q8": "pad_image_q8"},
    "pad": {"mirror_pad": "mirror_pad", "pad": "constant_pad"},
    "plain_windows": {
        **_apart("conv_plain_q8 conv_plain_hybrid depthwise_conv_plain_q8 depthwise_conv_plain_hybrid"),
        "transpose_conv_plain": "transpose_conv_plain_?8 transpose_conv_plain_i16",
        "transpose_conv_plain_hybrid": "transpose_conv_plain_hybrid",
    },
    "pool": {"pool_f32": "*_f32", "pool_i16": "*_i16", "pool_i8": "*_i8", "pool_u8": "*_u8"},
    "quantize": {
        "quantize": "quantize_?8 quantize_i16 dequantize_*",
        "quantize_reference": "quantize_reference_*",
    },
    "reduce": {
        "reduce_f32": "m*_f32 sum_*_f32 prod_*_f32",
        "reduce_f32_reference": "reference_*_f32",
        "reduce_int": "*_i32 *_i64",
        "reduce_q8": "sum_along_?8 sum_across_?8 sum_window_?8",
        "reduce_q16": "sum_away_*",
        "reduce_q8_reference": "sum_reference_*",
        "reduce_stored": "max_*_?8 min_*_?8 max_*_i16 min_*_i16",
    },
    "softmax": {"softmax_f32": "*_f32", "softmax_i16": "softmax_i16", "softmax_q8": "*_i8 *_u8 *8_i16"},
    "strided_copy": {"reshape": "flat_copy", "strided_copy": "copy_*"},
    "transposition": _apart("transpose_1 transpose_2 transpose_4 transpose_8"),
    "windows_q16": _apart("conv_q16 conv_q16_w16 depthwise_conv_q16"),
}


class _Families(dict[str, Family]):
    """Families by name. One that the tables lack is of single elements: their table is read only then."""

    def __missing__(self, name: str) -> Family:
        from ..element_functions import units

        return {unit: Family("element_kernels", " ".join(kernels)) for unit, kernels in units().items()}[name]


FAMILIES = _Families({name: Family(name) for name in _WHOLE})
for _module, _parts in _PARTS.items():
    FAMILIES.update((family, Family(_module, kernels)) for family, kernels in _parts.items())


def all_families() -> dict[str, Family]:
    """All families by name, those of single elements too."""
    from ..element_functions import units

    return FAMILIES | {unit: FAMILIES[unit] for unit in units()}
