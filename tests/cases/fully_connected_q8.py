"""Cases of FULLY_CONNECTED in int8 and uint8; int16 is in filter_q16.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numlite.schema import tflite

from .case import Case
from .filter_case import (
    INT8,
    INT8_ONE_SCALE,
    NONE,
    RELU,
    RELU6,
    UINT8,
    UINT8_CENTRED,
    FilterKind,
    filter_case,
    fully_connected_options,
)


def fully_connected_case(
    id: str,
    kind: FilterKind,
    x_shape: tuple[int, ...],
    units: int,
    *,
    fused: int = NONE,
    keep_num_dims: bool = False,
    bias: bool = True,
    constant: bool = True,
    num_threads: int = 1,
    bias_range: int = 20000,
) -> Case:
    """One FULLY_CONNECTED of x's last dimension to units."""

    def sums(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        total = x @ w.T + (0 if b is None else b)
        return total if keep_num_dims else total.reshape(-1, units)

    scales = "" if kind.per_channel else "-one-scale"
    return filter_case(
        f"fully-connected-{np.dtype(kind.dtype).name}{scales}-{id}",
        tflite.BuiltinOperator.FULLY_CONNECTED,
        kind,
        x_shape,
        (units, x_shape[-1]),
        0,
        sums,
        fully_connected_options(fused, keep_num_dims),
        version=11 if kind.dtype is np.int16 else 5,
        bias=bias,
        constant=constant,
        num_threads=num_threads,
        bias_range=bias_range,
    )


def _of_all_kinds(kind: FilterKind) -> list[Case]:
    return [
        fully_connected_case("640-128", kind, (1, 640), 128, fused=RELU),
        fully_connected_case("130-333", kind, (1, 130), 333),
        fully_connected_case("7-1", kind, (1, 7), 1),
        fully_connected_case("128-8", kind, (1, 128), 8),
        fully_connected_case("8-128", kind, (1, 8), 128, fused=RELU6),
        fully_connected_case("batch-3", kind, (3, 131), 37),
        fully_connected_case("batch-64", kind, (64, 96), 200),
        fully_connected_case("batch-64-threads", kind, (64, 512), 256, num_threads=4),
        fully_connected_case("threads", kind, (1, 2048), 1024, num_threads=4),
        fully_connected_case("keep-num-dims", kind, (2, 5, 96), 40, keep_num_dims=True),
        fully_connected_case("no-bias", kind, (9, 96), 40, bias=False),
        fully_connected_case("filter-input", kind, (5, 96), 40, constant=False),
        fully_connected_case(
            "scales-above-half", replace(kind, y_scale=0.0001), (20, 96), 40, bias_range=200
        ),
    ]


CASES = [
    *_of_all_kinds(INT8),
    *_of_all_kinds(INT8_ONE_SCALE),
    *_of_all_kinds(UINT8),
    fully_connected_case("centred", UINT8_CENTRED, (1, 100), 50),
    fully_connected_case("weight-zero-5", replace(INT8_ONE_SCALE, w_zero=5), (30, 96), 40),
]
