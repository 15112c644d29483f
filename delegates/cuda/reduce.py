"""MEAN, SUM and the other reductions: launches from the argument blocks of kernels/reduce.py."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from .launch import Argument, Constant
from .movement import check_computed
from .tiling import stays_even

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from ...lite.tensor import Tensor
    from .fusion import Step
    from .lowering import Lowering

_MOST_LOOPS = 4
_KINDS = ("mean", "sum", "prod", "max", "min")
_FEW = 32
# Results and elements of a tile: neighbours in memory are results, or elements, few or many.
_ACROSS, _ALONG_FEW, _ALONG = (64, 16), (32, _FEW), (4, 256)


def lower(b: Lowering, step: Step) -> None:
    """One launch, for up to four loops over results and four over what they are made of."""
    name = step.node.registration.name
    calls = b.calls(step.node)
    check_computed(b, step.node)
    for call in calls:
        function, kind = _function(name, call)
        x, y = call.tensors["x"], call.tensors["y"]
        finite = call.family == "reduce_f32_reference"
        if kind in ("max", "min") and x.size == y.size and not finite:
            b.convert(b.pointer(x), b.pointer(y), x.size)  # of one element, it is that: a NaN, too
            continue
        args, constants = _loops(b, name, call)
        if function == "reduce":
            type_ = _accumulator(x, kind)
            args |= {"start": _start(kind, x, finite), "scale": float(call.args["scale"][0])}
            constants = {"KIND": kind, "TYPE": type_, **constants}
        else:
            limits = np.iinfo(y.dtype)
            fields = ("scale", "offset") if function == "sum_q8" else ("bias", "multiplier", "shift", "zero")
            args |= {"start": 0, **{field: call.args[field][0].item() for field in fields}}
            args |= {"low": int(limits.min), "high": int(limits.max)}
        grid = (-(-y.size // int(constants["RESULTS"])),)
        b.launch("reduce", function, grid, args, constants, divisible=_divisible(y, "_along_" in call.kernel))


def _function(name: str, call: KernelCall) -> tuple[str, str]:
    """The function of the device code, and of "reduce" the kind."""
    kind = call.kernel.removeprefix("reference_").partition("_")[0]
    if call.family == "reduce_q8":
        return "sum_q8", kind
    if call.family == "reduce_q8_reference":
        return "sum_q8_reference", kind
    if kind not in _KINDS or call.family == "reduce_q16":
        raise UnsupportedError(f"{name} by {call.kernel} is not built")
    return "reduce", kind


def _accumulator(x: Tensor, kind: str) -> str:
    """What elements are combined in: sums and products of integers in 64 bits, as the CPU's are."""
    if x.type == TensorType.FLOAT32:
        return "fp32"
    return "i64" if x.type in (TensorType.INT32, TensorType.INT64) else "i32"


def _start(kind: str, x: Tensor, finite: bool) -> float | int:
    """What combines with an element to that element; with `finite` a number, which infinities do not pass."""
    if x.type == TensorType.FLOAT32:
        most = float(np.finfo(np.float32).max) if finite else math.inf
        return {"prod": 1.0, "max": -most, "min": most}.get(kind, 0.0)
    if kind not in ("max", "min"):
        return int(kind == "prod")
    limits = np.iinfo(np.uint8 if x.type == TensorType.BOOL else x.dtype)
    return int(limits.min if kind == "max" else limits.max)


def _loops(b: Lowering, name: str, call: KernelCall) -> tuple[dict[str, Argument], dict[str, Constant]]:
    """Pointers and loops, and the tile."""
    x, y, block = call.tensors["x"], call.tensors["y"], call.args
    inner = (int(block["inner"][0]), 1)
    along = "_along_" in call.kernel
    kept = _axes(block, "kept") + ([] if along else [inner])
    reduced = _axes(block, "reduced") + ([inner] if along else [])
    if max(len(kept), len(reduced)) > _MOST_LOOPS:
        raise UnsupportedError(
            f"{name}: up to {_MOST_LOOPS} separate groups of dimensions are built, "
            f"got {len(kept)} kept and {len(reduced)} reduced"
        )
    count = math.prod(n for n, _ in reduced)
    args: dict[str, Argument] = {
        "x_ptr": b.pointer(x),
        "y_ptr": b.pointer(y),
        "size": y.size,
        "count": count,
        **_arguments("k", kept),
        **_arguments("r", reduced),
    }
    results, elements = (_ALONG_FEW if count <= _FEW else _ALONG) if along else _ACROSS
    constants: dict[str, Constant] = {
        "ALONG": along,
        "KEPT_RANK": max(len(kept), 1),
        "RANK": max(len(reduced), 1),
        "RESULTS": results,
        "BLOCK": elements,
    }
    return args, constants


def _divisible(y: Tensor, along: bool) -> tuple[str, ...]:
    """Sizes and steps that make the loads of neighbours wide."""
    if along:
        return ("count", "rn3", "r0", "r1", "r2", "k0", "k1", "k2", "k3")
    return (*(("size",) if stays_even(y.shape) else ()), "kn3", "k0", "k1", "k2", "r0", "r1", "r2", "r3")


def _axes(block: np.ndarray, name: str) -> list[tuple[int, int]]:
    """Size and stride of each loop of more than one turn."""
    shape, strides = block[f"{name}_shape"][0].tolist(), block[f"{name}_strides"][0].tolist()
    return [(n, stride) for n, stride in zip(shape, strides, strict=True) if n != 1]


def _arguments(letter: str, axes: list[tuple[int, int]]) -> dict[str, Argument]:
    filled = [(1, 0)] * (_MOST_LOOPS - len(axes)) + axes
    args: dict[str, Argument] = {f"{letter}n{k}": filled[k][0] for k in range(1, _MOST_LOOPS)}
    return args | {f"{letter}{k}": stride for k, (_, stride) in enumerate(filled)}
