"""Cases of STABLEHLO_DOT_GENERAL and STABLEHLO_CONVOLUTION."""

from __future__ import annotations

import numpy as np
from numlite.schema import tflite
from numlite.schema.tflite import BuiltinOperator

from .case import EXACT, NO_KERNEL, Case, Close
from .single_op import Kind, single_op


def _dot(id: str, x: Kind, w: Kind, out: Kind, axes: tuple[list[int], ...], formula: str) -> Case:
    options = tflite.StablehloDotGeneralOptionsT(
        lhs_batching_dimensions=axes[0],
        rhs_batching_dimensions=axes[1],
        lhs_contracting_dimensions=axes[2],
        rhs_contracting_dimensions=axes[3],
    )
    return Case(
        id=f"STABLEHLO_DOT_GENERAL-{id}",
        make=lambda: single_op(BuiltinOperator.STABLEHLO_DOT_GENERAL, [x, w], out, options),
        inputs=[x.random(id, 1), w.random(f"{id}w", 1)],
        oracle=lambda a, b: np.einsum(formula, a.astype(np.float64), b.astype(np.float64)).astype(out.dtype),
        closeness=EXACT if np.dtype(out.dtype).kind == "i" else Close(rtol=1e-5, atol=1e-5),
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


def _convolved(
    x: np.ndarray, w: np.ndarray, strides: list[int], dilations: list[int], groups: int
) -> np.ndarray:
    """x [n, h, w, c] padded, w [kh, kw, c / groups, o]: [n, oh, ow, o]."""
    kh, kw, depth, out_depth = w.shape
    sizes = [(x.shape[d + 1] - (w.shape[d] - 1) * dilations[d] - 1) // strides[d] + 1 for d in range(2)]
    y = np.zeros((x.shape[0], *sizes, out_depth))
    for i, j, k, m, o in np.ndindex(*sizes, kh, kw, out_depth):
        first = o // (out_depth // groups) * depth
        pixel = x[:, i * strides[0] + k * dilations[0], j * strides[1] + m * dilations[1]]
        y[:, i, j, o] += pixel[:, first : first + depth] @ w[k, m, :, o]
    return y


def _convolution(id: str, groups: int, base: list[int], dilations: list[int], flipped: bool) -> Case:
    x, w = Kind((2, 7, 6, 4)), Kind((3, 2, 4 // groups, 6))
    strides, padding = [2, 1], [1, 2, 0, 1]

    def oracle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        spread = np.zeros((2, (7 - 1) * base[0] + 1, (6 - 1) * base[1] + 1, 4))
        spread[:, :: base[0], :: base[1]] = a
        padded = np.pad(spread, [(0, 0), padding[:2], padding[2:], (0, 0)])
        kernel = b[::-1, ::-1] if flipped else b
        return _convolved(padded, kernel.astype(np.float64), strides, dilations, groups).astype(np.float32)

    inputs = [x.random(id, 1), w.random(f"{id}w", 1)]
    options = tflite.StablehloConvolutionOptionsT(
        window_strides=strides,
        padding=padding,
        lhs_dilation=base,
        rhs_dilation=dilations,
        window_reversal=[flipped, flipped],
        input_batch_dimension=0,
        input_feature_dimension=3,
        input_spatial_dimensions=[1, 2],
        kernel_input_feature_dimension=2,
        kernel_output_feature_dimension=3,
        kernel_spatial_dimensions=[0, 1],
        output_batch_dimension=0,
        output_feature_dimension=3,
        output_spatial_dimensions=[1, 2],
        feature_group_count=groups,
        batch_group_count=1,
    )
    out = Kind(oracle(*inputs).shape)
    return Case(
        id=f"STABLEHLO_CONVOLUTION-{id}",
        make=lambda: single_op(BuiltinOperator.STABLEHLO_CONVOLUTION, [x, w], out, options),
        inputs=inputs,
        oracle=oracle,
        closeness=Close(rtol=1e-5, atol=1e-5),
        litert_default=NO_KERNEL,
        litert_reference=NO_KERNEL,
    )


CASES = [
    _dot("matrices", Kind((3, 5)), Kind((5, 4)), Kind((3, 4)), ([], [], [1], [0]), "ik,kj->ij"),
    _dot(
        "batches",
        Kind((2, 3, 5, 4)),
        Kind((5, 2, 4, 6)),
        Kind((2, 3, 6)),
        ([0], [1], [2, 3], [0, 2]),
        "bikl,kblj->bij",
    ),
    _dot(
        "integers",
        Kind((3, 5), np.int8),
        Kind((4, 5), np.int8),
        Kind((3, 4), np.int32),
        ([], [], [1], [1]),
        "ik,jk->ij",
    ),
    _dot("outer", Kind((3,)), Kind((4,)), Kind((3, 4)), ([], [], [], []), "i,j->ij"),
    _convolution("plain", 1, [1, 1], [1, 1], False),
    _convolution("grouped", 2, [1, 1], [2, 1], False),
    _convolution("spread", 1, [2, 3], [1, 2], True),
]
